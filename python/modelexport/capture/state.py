"""Leaves a model and the process as they were, however a capture ends."""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def untouched(model: torch.nn.Module) -> Iterator[None]:
    """Puts back what a capture may change: attributes, parameters, buffers and hooks of every module, training and
    `requires_grad` flags, grad mode, and the random number generators.

    The contents of tensors are not copied: a capture runs on fake tensors and does not compute on real ones.
    """
    modules = [(module, _Attributes(module)) for module in model.modules()]
    flags = [(parameter, parameter.requires_grad) for parameter in model.parameters()]
    grad_mode = torch.is_grad_enabled()
    generators = _Generators()
    try:
        yield
    finally:
        for module, attributes in modules:
            attributes.restore(module)
        for parameter, requires_grad in flags:
            if parameter.requires_grad != requires_grad:
                parameter.requires_grad_(requires_grad)
        torch.set_grad_enabled(grad_mode)
        generators.restore()


class _Attributes:
    """The attributes of one module, and the entries of its tables (parameters, buffers, submodules, hooks)."""

    def __init__(self, module: torch.nn.Module):
        self._values = dict(module.__dict__)
        self._tables = {
            name: (value, list(value.items())) for name, value in self._values.items() if _is_table(name, value)
        }

    def restore(self, module: torch.nn.Module) -> None:
        # Directly, as a module's own __setattr__ would sort tensors and submodules into its tables.
        if not _same(module.__dict__, self._values):
            module.__dict__.clear()
            module.__dict__.update(self._values)
        for table, entries in self._tables.values():
            if not _same(table, dict(entries)):
                table.clear()
                table.update(entries)


def _is_table(name: str, value: Any) -> bool:
    """`nn.Module` keeps them in private dictionaries; other dictionaries are the user's."""
    return isinstance(value, dict) and (name in ("_parameters", "_buffers", "_modules") or name.endswith("_hooks"))


def _same(found: dict, before: dict) -> bool:
    """The same objects under the same names in the same order."""
    return len(found) == len(before) and all(
        name == other and value is kept
        for (name, value), (other, kept) in zip(found.items(), before.items(), strict=True)
    )


class _Generators:
    """The states of the generators that a `forward` may draw from."""

    def __init__(self) -> None:
        self._python = random.getstate()
        self._cpu = torch.get_rng_state()
        self._cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
        numpy = sys.modules.get("numpy")
        self._numpy = numpy.random.get_state() if numpy else None

    def restore(self) -> None:
        random.setstate(self._python)
        torch.set_rng_state(self._cpu)
        if self._cuda is not None:
            torch.cuda.set_rng_state_all(self._cuda)
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)
