"""Cases for single operators: what PyTorch computes is what the exported model must compute.

A family has one file here, which says its cases at import:

    from op_cases import op, fn, floats, ints

    op("aten.topk.default", floats(3, 4), 2, dim=0)              # tensors become inputs, the rest constants
    op("aten.add.Tensor", floats(2, 3), ints(3), alpha=2, dynamic={0: {0: "batch"}})
    fn("aten.view_as_complex.default", lambda x: torch.view_as_real(torch.view_as_complex(x) * 2), floats(3, 2))

`op` calls the overload itself, so a case always exercises its row; `fn` calls a function and the harness checks that
the overload occurs in what was captured.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

#: Every case is exported and run at these opsets unless it says otherwise.
OPSETS = (14, 18, 20, 24)


@dataclass
class Case:
    target: str
    call: Callable
    tensors: list[torch.Tensor]
    name: str
    family: str
    opsets: tuple[int, ...]
    #: {index of the tensor: {axis: name}}
    dynamic: dict[int, dict[int, str]] = field(default_factory=dict)
    #: For each dynamic case: other inputs, of other sizes, that the same model must serve.
    alternative: list[torch.Tensor] | None = None
    #: "values", or "shape" for random numbers.
    compare: str = "values"
    #: Relative tolerance; the default depends on the type of the output.
    rtol: float | None = None
    #: Whether zeros must have the sign that they have in PyTorch.
    signs: bool = False

    @property
    def is_first(self) -> bool:
        """Whether no other case of the operator comes before."""
        return self.name == f"{self.target}-0"


CASES: list[Case] = []
UNCAPTURED: set[str] = set()
_family = "?"


def _add(
    target,
    call,
    tensors,
    *,
    opsets=OPSETS,
    since=None,
    dynamic=None,
    alternative=None,
    compare="values",
    rtol=None,
    signs=False,
):
    if since is not None:
        opsets = tuple(sorted({o for o in opsets if o >= since} | {since}))
    number = sum(case.target == target for case in CASES)
    CASES.append(
        Case(
            target,
            call,
            list(tensors),
            f"{target}-{number}",
            _family,
            tuple(opsets),
            dynamic or {},
            alternative,
            compare,
            rtol,
            signs,
        )
    )


def op(target: str, *args: Any, **kwargs: Any) -> None:
    """A call of one overload. Keywords of the harness: opsets, since, dynamic, alternative, compare, rtol, signs."""
    names = ("opsets", "since", "dynamic", "alternative", "compare", "rtol", "signs")
    settings = {name: kwargs.pop(name) for name in names if name in kwargs}
    overload = torch.ops
    for part in target.split("."):
        overload = getattr(overload, part)
    tensors: list[torch.Tensor] = []

    def place(value):
        if isinstance(value, torch.Tensor):
            tensors.append(value)
            return _Slot(len(tensors) - 1)
        if isinstance(value, (list, tuple)):
            return type(value)(place(item) for item in value)
        return value

    args, kwargs = place(args), {key: place(value) for key, value in kwargs.items()}

    def call(*given):
        def fill(value):
            if isinstance(value, _Slot):
                return given[value.index]
            if isinstance(value, (list, tuple)):
                return type(value)(fill(item) for item in value)
            return value

        return overload(*fill(args), **{key: fill(value) for key, value in kwargs.items()})

    _add(target, call, tensors, **settings)


def fn(target: str, call: Callable, *tensors: torch.Tensor, **settings: Any) -> None:
    """A function of tensors in whose capture `target` occurs."""
    _add(target, call, tensors, **settings)


def never(target: str, why: str) -> None:
    """A row that no case can have: archives may hold the operator, but the installed PyTorch does not write it."""
    assert why
    UNCAPTURED.add(target)


@dataclass
class _Slot:
    index: int


def _generator(shape) -> torch.Generator:
    return torch.Generator().manual_seed(17 + sum((i + 1) * n for i, n in enumerate(shape)))


def floats(
    *shape: int, dtype: torch.dtype = torch.float32, low: float | None = None, high: float = 1.0
) -> torch.Tensor:
    """Normal numbers, or uniform ones from `low` to `high`; the same for the same shape."""
    generator = _generator(shape)
    if low is None:
        return torch.randn(shape, generator=generator).to(dtype)
    return (torch.rand(shape, generator=generator) * (high - low) + low).to(dtype)


def ints(*shape: int, low: int = -5, high: int = 6, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=_generator(shape)).to(dtype)


def bools(*shape: int) -> torch.Tensor:
    return torch.rand(shape, generator=_generator(shape)) > 0.5


def load_all() -> list[Case]:
    """Imports every family once and returns all cases."""
    global _family
    if not CASES:
        for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
            _family = module.name
            importlib.import_module(f"{__name__}.{module.name}")
    return CASES
