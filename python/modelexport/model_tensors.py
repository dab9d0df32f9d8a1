"""The tensors that a module itself holds."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

import torch


def own_tensors(module: torch.nn.Module) -> Iterator[tuple[str, str, torch.Tensor]]:
    """Kind, attribute and tensor of what a module itself holds."""
    tables: dict[str, Mapping[str, Any]] = {
        "parameter": module._parameters,
        "buffer": module._buffers,
        "constant": vars(module),
    }
    for kind, table in tables.items():
        for name, value in table.items():
            if is_readable(value):
                yield kind, name, value


def is_readable(value: Any) -> TypeGuard[torch.Tensor]:
    """Whether it is a tensor with a shape; lazy parameters have none before their first call."""
    return isinstance(value, torch.Tensor) and not torch.nn.parameter.is_lazy(value)
