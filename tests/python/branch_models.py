"""Models that call modules inside branches and loops, and what eager PyTorch says about who does the work there."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import torch
from torch import nn
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.map import map as map_over
from torch.overrides import TorchFunctionMode


class Wave(nn.Module):
    """No parameters: nothing but the capture can tell that it ran."""

    def forward(self, x):
        return torch.sin(x) + 1


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)
        self.wave = Wave()

    def forward(self, x):
        return self.wave(self.proj(x)) * 2


class Gated(nn.Module):
    """What lies between its projections is its own."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 8)
        self.up = nn.Linear(4, 8, bias=False)
        self.down = nn.Linear(8, 4)

    def forward(self, x):
        return self.down(torch.sigmoid(self.gate(x)) * self.up(x))


class Choice(nn.Module):
    """One module in both branches, one in one of them, one around them."""

    def __init__(self):
        super().__init__()
        self.first = Block()
        self.second = Block()
        self.wave = Wave()

    def forward(self, x):
        x = self.wave(x)
        return torch.cond(x.sum() > 0, lambda x: self.first(x) + self.second(x), lambda x: self.second(x) - 1, (x,))


class InsideAndOutside(nn.Module):
    """One instance before, in and after the branches, twice in one of them."""

    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        x = self.block(x)
        x = torch.cond(x.sum() > 0, lambda x: self.block(self.block(x)), lambda x: self.block(x).cos(), (x,))
        return self.block(x)


class Nested(nn.Module):
    """A cond in a cond, and a module that holds a cond in a branch and outside."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Choice(), Choice()])
        self.block = Block()

    def forward(self, x):
        def inner(x):
            return torch.cond(x.max() > 1, lambda x: self.block(x), lambda x: self.layers[1](x) * 3, (x,))

        x = torch.cond(x.sum() > 0, inner, lambda x: self.block(x).abs(), (x,))
        return self.layers[0](x)


class Experts(nn.Module):
    """Lists and sequences of modules, norms with buffers, parameters of the model itself."""

    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList([Gated(), Gated(), Gated()])
        self.tower = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.LayerNorm(4))
        self.norm = nn.BatchNorm1d(4)
        self.scale = nn.Parameter(torch.full((4,), 2.0))

    def forward(self, x):
        def chosen(x):
            return self.experts[2](self.tower(x)) * self.scale

        return torch.cond(x.mean() > 0, chosen, lambda x: self.norm(self.experts[0](x)), (x,))


class Loop(nn.Module):
    """A module in the body and one in the condition."""

    def __init__(self):
        super().__init__()
        self.block = Block()
        self.size = Wave()

    def forward(self, x):
        def goes_on(count, x):
            return (count < 3) & (self.size(x).sum() < 1e6)

        def body(count, x):
            return count + 1, self.block(x)

        return while_loop(goes_on, body, (torch.zeros((), dtype=torch.int64), x))[1]


class Recurrence(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = Gated()
        self.readout = Wave()

    def forward(self, x):
        def step(state, row):
            state = self.cell(state + row)
            return state, self.readout(state)

        state, outputs = scan(step, torch.zeros_like(x[0]), x)
        return state + outputs.sum(0)


class Each(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.wave = Wave()

    def forward(self, x):
        return map_over(lambda row: self.wave(self.block(row)) / 2, x)


class Shared(nn.Module):
    """One instance under two names."""

    def __init__(self):
        super().__init__()
        self.block = Block()
        self.again = self.block

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.again(x), lambda x: self.block(x) + 1, (self.block(x),))


class Tied(nn.Module):
    """One weight under two names."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4, bias=False)
        self.second = nn.Linear(4, 4, bias=False)
        self.second.weight = self.first.weight

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.first(x), lambda x: self.second(x).cos(), (x,))


class Stray(nn.Module):
    """Calls a module that is no part of it."""

    def __init__(self):
        super().__init__()
        self.block = Block()
        self.hidden = [Wave()]

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.hidden[0](self.block(x)), lambda x: self.block(x), (x,))


class Regions(nn.Module):
    """Regions without gradients around a branch and in one, methods and modules as branches."""

    def __init__(self):
        super().__init__()
        self.block = Block()
        self.gated = Gated()

    def both(self, x):
        with torch.no_grad():
            y = self.gated(x)
        return y + self.block(x)

    def forward(self, x):
        with torch.no_grad():
            x = torch.cond(x.sum() > 0, self.block, self.gated, (x,))
        return torch.cond(x.sum() > 1, self.both, self.gated, (x,))


class LoopOfBranches(nn.Module):
    """A branch in the body of a loop, in a module; one that it calls is called again from outside."""

    class Step(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.gated = Gated()

        def forward(self, x):
            def body(count, x):
                return count + 1, torch.cond(x.sum() > 0, self.block, lambda x: self.gated(x).cos(), (x,))

            return while_loop(lambda count, x: count < 2, body, (torch.zeros((), dtype=torch.int64), x))[1]

    def __init__(self):
        super().__init__()
        self.step = self.Step()

    def forward(self, x):
        return self.step.block(self.step(x))


MODELS = [
    Choice,
    InsideAndOutside,
    Nested,
    Experts,
    Loop,
    LoopOfBranches,
    Recurrence,
    Each,
    Regions,
    Shared,
    Tied,
    Stray,
]


@dataclass
class Truth:
    """Who did what in a run of eager PyTorch that took every branch once, and every loop for one round."""

    work: Counter = field(default_factory=Counter)
    """Module and operator."""
    calls: Counter = field(default_factory=Counter)


def truth(model: nn.Module, *args: torch.Tensor) -> Truth:
    found = Truth()
    stack = [""]
    # Of an instance with several names the one that Python used cannot be seen from here.
    paths = {module: path for path, module in model.named_modules()}

    class Record(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor):
                found.work[stack[-1], function.__name__.strip("_")] += 1
            return result

    def enter(module, _):
        if paths.get(module):
            stack.append(paths[module])
            found.calls[paths[module]] += 1

    def leave(module, *_):
        if paths.get(module):
            stack.pop()

    handles = [nn.modules.module.register_module_forward_pre_hook(enter)]
    handles.append(nn.modules.module.register_module_forward_hook(leave, always_call=True))
    try:
        with _branches_as_python(), torch.no_grad(), Record():
            model(*args)
    finally:
        for handle in handles:
            handle.remove()
    return found


def _branches_as_python() -> Any:
    """Every function that an operator takes runs once."""

    def cond(_, when_true: Callable, when_false: Callable, operands: tuple):
        when_true(*operands)
        return when_false(*operands)

    def loop(goes_on: Callable, body: Callable, carried: tuple):
        goes_on(*carried)
        return body(*carried)

    def one_step(step: Callable, state: torch.Tensor, rows: torch.Tensor):
        state, output = step(state, _row(rows))
        return state, _stacked(output, rows)

    def one_row(function: Callable, rows: torch.Tensor):
        return _stacked(function(_row(rows)), rows)

    here = __name__
    return _All(
        mock.patch.object(torch, "cond", cond),
        mock.patch(f"{here}.while_loop", loop),
        mock.patch(f"{here}.scan", one_step),
        mock.patch(f"{here}.map_over", one_row),
    )


def _row(rows: torch.Tensor) -> torch.Tensor:
    with torch._C.DisableTorchFunction():
        return rows[0].clone()


def _stacked(row: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    with torch._C.DisableTorchFunction():
        return row.expand(rows.shape[0], *row.shape).clone()


class _All:
    def __init__(self, *managers):
        self._managers = managers

    def __enter__(self):
        for manager in self._managers:
            manager.__enter__()

    def __exit__(self, *exception):
        for manager in self._managers:
            manager.__exit__(*exception)
