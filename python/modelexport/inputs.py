"""Inputs of a model, in the forms that users give them: a tensor, a tuple (positional) or a dict (keywords)."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch

from modelexport.capture.shapes import bound_arguments


def as_call(inputs: Any) -> tuple[tuple, dict[str, Any]]:
    """Positional and keyword arguments of the call that `inputs` stands for."""
    if isinstance(inputs, torch.Tensor):
        return (inputs,), {}
    if isinstance(inputs, Mapping):
        if bad := [key for key in inputs if not isinstance(key, str)]:
            raise TypeError(f"inputs: keyword arguments have names; {bad[0]!r} is a {type(bad[0]).__name__}")
        return (), dict(inputs)
    if isinstance(inputs, (tuple, list)):
        return tuple(inputs), {}
    raise TypeError(
        f"inputs: expected a tensor, a tuple of positional arguments or a dict of keyword arguments, "
        f"not {type(inputs).__name__}"
    )


def named_tensors(model: torch.nn.Module, args: tuple, kwargs: dict[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """Name and tensor of all that a call is given, in the order of the arguments."""
    for name, value in bound_arguments(model, args, kwargs).items():
        yield from leaves(name, value)


def leaves(name: str, value: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors inside a value, with the keys that lead to them after underscores."""
    if isinstance(value, torch.Tensor):
        yield name, value
        return
    parts: Iterable[tuple[Any, Any]]
    if isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        parts = enumerate(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    else:
        return
    for key, part in parts:
        yield from leaves(f"{name}_{key}" if name else str(key), part)


def has_keys(value: Any) -> bool:
    """Whether a result names its parts: a dict or a dataclass."""
    return isinstance(value, Mapping) or (dataclasses.is_dataclass(value) and not isinstance(value, type))
