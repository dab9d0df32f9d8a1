"""`dynamic_shapes` as `torch.onnx.export` takes them: what of them is for `torch.export`, and what is names."""

import difflib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

# Names of axes by the identity of the tensor that has them.
AxisNames = dict[int, dict[int, str]]


def split(model: torch.nn.Module, args: tuple, kwargs: dict[str, Any], shapes: Any) -> tuple[Any, AxisNames]:
    """What `torch.export` takes, in which a name alone is a dimension that may be anything, and the names."""
    if not isinstance(shapes, (Mapping, tuple, list)):
        return shapes, {}
    names: AxisNames = {}
    collect(bound_arguments(model, args, kwargs), shapes, names)
    return _without_names(shapes), names


def collect(arguments: Mapping[str, Any], shapes: Any, names: AxisNames) -> None:
    """Adds the names that `shapes`, by argument or in their order, gives to axes of tensors in `arguments`."""
    if isinstance(shapes, Mapping):
        for name, shape in shapes.items():
            _collect(arguments.get(name), shape, names)
    elif isinstance(shapes, (tuple, list)):
        for value, shape in zip(arguments.values(), shapes, strict=False):
            _collect(value, shape, names)


def bound_arguments(model: torch.nn.Module, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by the names that `forward` has for them. What goes into `**kwargs` stands by itself."""
    signature = inspect.signature(model.forward)
    bound = signature.bind(*args, **kwargs).arguments
    rest = [p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]
    arguments = {name: value for name, value in bound.items() if name not in rest}
    for name in rest:
        arguments.update(bound.get(name, {}))
    return arguments


def symbol_names(inputs: Sequence[Any], nodes: Sequence[torch.fx.Node], names: AxisNames) -> list[str]:
    """`SYMBOL=NAME` for the named axes of the program's inputs, which are the leaves `inputs` of the call.

    An axis whose size is an expression (twice another, say) has no symbol of its own and keeps the expression.
    """
    found: dict[str, str] = {}
    for value, node in zip(inputs, nodes, strict=False):
        axes = names.get(id(value), {})
        fake = node.meta.get("val")
        if not isinstance(fake, torch.Tensor):
            continue
        for axis, name in axes.items():
            size = fake.shape[axis]
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                found.setdefault(str(size.node.expr), name)
    return [f"{symbol}={name}" for symbol, name in found.items()]


def from_dynamic_axes(
    axes: Mapping[str, Any], arguments: Mapping[str, Any], input_names: Sequence[str]
) -> dict[str, Any]:
    """The older form `{"input": {0: "batch"}}` or `{"input": [0]}`, by the names of inputs, as dynamic shapes."""
    by_name = dict(zip(input_names, arguments, strict=False))
    shapes: dict[str, Any] = dict.fromkeys(arguments)
    for name, given in axes.items():
        argument = by_name.get(name, name)
        if argument in shapes:
            by_axis = given if isinstance(given, Mapping) else dict.fromkeys(given, torch.export.Dim.DYNAMIC)
            shapes[argument] = {_from_front(axis, arguments[argument]): size for axis, size in by_axis.items()}
        elif close := difflib.get_close_matches(name, [*by_name, *arguments], n=1, cutoff=0.8):
            # Other names may be those of outputs, whose sizes follow from the inputs.
            raise ValueError(f"dynamic_axes: there is no input {name!r}; did you mean {close[0]!r}?")
    return shapes


def _from_front(axis: int, value: Any) -> int:
    return axis + value.dim() if axis < 0 and isinstance(value, torch.Tensor) else axis


def _collect(value: Any, shape: Any, names: AxisNames) -> None:
    if shape is None or value is None:
        return
    if isinstance(value, torch.Tensor):
        axes = shape.items() if isinstance(shape, Mapping) else enumerate(shape)
        named = {axis: text for axis, size in axes if (text := _name(size)) is not None}
        if named:
            names[id(value)] = named
    elif isinstance(value, Mapping) and isinstance(shape, Mapping):
        for key, part in shape.items():
            _collect(value.get(key), part, names)
    elif (node := pytree.SUPPORTED_NODES.get(pytree._get_node_type(value))) is not None:
        children, _ = node.flatten_fn(value)
        parts = shape.values() if isinstance(shape, Mapping) else shape
        for child, part in zip(children, parts, strict=False):
            _collect(child, part, names)


def _name(size: Any) -> str | None:
    """A dimension that was given a name; `Dim.DYNAMIC`, `Dim.AUTO` and numbers have none."""
    if isinstance(size, str):
        return size
    return size.__name__ if isinstance(size, torch.export.Dim) else None


def _without_names(shapes: Any) -> Any:
    if isinstance(shapes, str):
        return torch.export.Dim.DYNAMIC
    if isinstance(shapes, Mapping):
        return {key: _without_names(part) for key, part in shapes.items()}
    if isinstance(shapes, (tuple, list)):
        return type(shapes)(_without_names(part) for part in shapes)
    return shapes
