"""The tensors that a module itself holds."""

from collections.abc import Iterator
from typing import Any

import torch


def own_tensors(module: torch.nn.Module) -> Iterator[tuple[str, str, torch.Tensor]]:
    """Kind, attribute and tensor of what a module itself holds."""
    for name, tensor in module._parameters.items():
        if is_readable(tensor):
            yield "parameter", name, tensor
    for name, tensor in module._buffers.items():
        if is_readable(tensor):
            yield "buffer", name, tensor
    for name, value in vars(module).items():
        if is_readable(value):
            yield "constant", name, value


def is_readable(value: Any) -> bool:
    """Whether it is a tensor with a shape; lazy parameters have none before their first call."""
    return isinstance(value, torch.Tensor) and not torch.nn.parameter.is_lazy(value)
