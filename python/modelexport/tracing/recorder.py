"""A dispatch mode that writes down every operator that runs."""

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from modelexport.tracing.fingerprint import dtype_name
from modelexport.tracing.tensors import Tensors


class OperatorRecorder(TorchDispatchMode):
    """Records operators as the model calls them. `innermost_call` tells the module call that is running."""

    # Control flow reaches the mode as operators that take functions.
    supports_higher_order_operators = True

    def __init__(self, tensors: Tensors, innermost_call: Callable[[], int]):
        super().__init__()
        self.ops: list[dict[str, Any]] = []
        self._tensors = tensors
        self._innermost_call = innermost_call

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        record: dict[str, Any] = {"target": target(func), "call": self._innermost_call(), "inputs": []}
        arguments: dict[str, Any] = {}
        mutates = []
        for (name, is_written), value in given_arguments(func, args, kwargs):
            numbers = [self._tensors.read(tensor) for tensor in tensors_of(value)]
            record["inputs"] += [{"argument": name, "tensor": number} for number in numbers]
            if is_written:
                mutates += numbers
            if not numbers or (isinstance(value, (list, tuple)) and None in map(_none_or_other, value)):
                arguments[name] = self._plain(value)
        if isinstance(func, torch._ops.HigherOrderOperator):
            args, kwargs = self._watched(args), self._watched(kwargs)
        outputs = func(*args, **kwargs)
        if arguments:
            record["arguments"] = arguments
        # Numbered after the call: the operators inside a higher-order one come first.
        number = len(self.ops)
        record["outputs"] = [self._made(output, number, mutates) for output in flat(outputs)]
        if mutates:
            record["mutates"] = mutates
        self.ops.append(record)
        return outputs

    def _made(self, output: Any, op: int, mutates: list[int]) -> int | None:
        if not isinstance(output, torch.Tensor):
            return None
        # An operator that had nothing to do returns its input.
        known = self._tensors.find(output)
        if known is not None and known not in mutates:
            return known
        return self._tensors.add(output, {"op": op})

    def _watched(self, argument: Any) -> Any:
        """The argument with functions in it that run under this mode, which dispatch has put aside."""
        if isinstance(argument, (list, tuple)):
            return type(argument)(map(self._watched, argument))
        if isinstance(argument, dict):
            return {key: self._watched(value) for key, value in argument.items()}
        if not callable(argument):
            return argument

        def watched(*args, **kwargs):
            with self:
                return argument(*args, **kwargs)

        return watched

    def _plain(self, value: Any) -> Any:
        """The argument as JSON."""
        match value:
            case None | bool() | int() | str():
                return value
            case float():
                return value if math.isfinite(value) else _non_finite(value)
            case torch.Tensor():
                return {"tensor": self._tensors.read(value)}
            case list() | tuple():
                return [self._plain(item) for item in value]
            case torch.dtype():
                return dtype_name(value)
            case torch.device():
                return value.type
            case torch.layout() | torch.memory_format():
                return str(value).removeprefix("torch.")
        return {"type": type(value).__qualname__}


def target(func: Any) -> str:
    """The operator as programs name it: `aten.linear.default`, `higher_order.cond`."""
    if isinstance(func, torch._ops.HigherOrderOperator):
        return f"{func.namespace}.{func.name()}"
    return str(func)


def _none_or_other(value: Any) -> Any:
    # Comparing a tensor with None would run an operator.
    return None if value is None else ...


def _non_finite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


@cache
def schema_arguments(func: Any) -> tuple[tuple[str, bool], ...] | None:
    """Name of each argument and whether the operator writes to it; None for an operator without a schema."""
    schema = getattr(func, "_schema", None)
    if schema is None:
        return None
    return tuple(
        (argument.name, argument.alias_info is not None and argument.alias_info.is_write)
        for argument in schema.arguments
    )


def given_arguments(func: Any, args: tuple, kwargs: dict[str, Any]) -> Iterator[tuple[tuple[str, bool], Any]]:
    """The arguments that were given, in the order of the operator's schema."""
    known = schema_arguments(func)
    if known is None:
        yield from (((f"arg{i}", False), value) for i, value in enumerate(args))
        yield from (((name, False), value) for name, value in kwargs.items())
        return
    yield from zip(known, args, strict=False)
    yield from ((argument, kwargs[argument[0]]) for argument in known[len(args) :] if argument[0] in kwargs)


def tensors_of(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of an argument: itself, or those of a list."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_of(item)


def flat(value: Any) -> Iterator[Any]:
    """A result, or the results of a list."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from flat(item)
    elif value is not None:
        yield value
