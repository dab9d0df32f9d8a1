"""Results of a model that `torch.export` does not take as they are."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree

# What may stand among the results of a captured program.
_KNOWN = (
    torch.Tensor,
    int,
    float,
    bool,
    str,
    type(None),
    torch.SymInt,
    torch.SymFloat,
    torch.SymBool,
    torch.ScriptObject,
)


@contextmanager
def plain_results(model: torch.nn.Module) -> Iterator[None]:
    """For the time of the context, objects among the results of `model` that torch cannot look into are dictionaries of
    the tensors in them: caches, dataclasses that nobody registered."""
    handle = model.register_forward_hook(_plain)
    try:
        yield
    finally:
        handle.remove()


def _plain(module: torch.nn.Module, args: tuple, result: Any) -> Any:
    leaves, spec = pytree.tree_flatten(result)
    if all(isinstance(leaf, _KNOWN) for leaf in leaves):
        return None
    return pytree.tree_unflatten([leaf if isinstance(leaf, _KNOWN) else _tensors(leaf, set()) for leaf in leaves], spec)


def _tensors(value: Any, seen: set[int]) -> Any:
    """The tensors in an object, under the names that lead to them; None if there are none."""
    if isinstance(value, torch.Tensor):
        return value
    if id(value) in seen:
        return None
    seen.add(id(value))
    parts: Iterable[tuple[Any, Any]]
    if isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, (list, tuple)):
        parts = enumerate(value)
    elif isinstance(value, type):
        return None
    else:
        parts = getattr(value, "__dict__", {}).items()
    found = {str(name): part for name, each in parts if (part := _tensors(each, seen)) is not None}
    return found or None
