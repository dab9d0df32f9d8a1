"""Models without weights: what is on the meta device is captured as if it were on the CPU.

A model may have its parameters on the meta device and its tables in memory, and its `forward` may make tensors on the CPU;
none of them could be mixed with tensors of the meta device. A hollow tensor is one of the CPU, with shape and strides but
a storage of no bytes. A capture never looks at contents.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree


def has_meta_tensors(model: torch.nn.Module) -> bool:
    return any(tensor.is_meta for table in _tables(model) for tensor in table.values() if tensor is not None)


@contextmanager
def without_meta(model: torch.nn.Module) -> Iterator[None]:
    """Puts hollow tensors in the place of those of the meta device; one that has several names stays one."""
    made: dict[int, torch.Tensor] = {}
    replaced = []
    try:
        for table in _tables(model):
            for name, tensor in table.items():
                if tensor is None or not tensor.is_meta:
                    continue
                if id(tensor) not in made:
                    made[id(tensor)] = hollow(tensor)
                replaced.append((table, name, tensor))
                table[name] = made[id(tensor)]
        yield
    finally:
        for table, name, tensor in replaced:
            table[name] = tensor


def inputs_without_meta(inputs: Any) -> Any:
    """Example inputs, those of the meta device as hollow tensors."""
    return pytree.tree_map(
        lambda leaf: hollow(leaf) if isinstance(leaf, torch.Tensor) and leaf.is_meta else leaf, inputs
    )


def hollow(tensor: torch.Tensor) -> torch.Tensor:
    # The memory is given back before anything is written to it, so that the system never provides it.
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")
    made.untyped_storage().resize_(0)
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(made, requires_grad=tensor.requires_grad)
    return made


def _tables(model: torch.nn.Module) -> Iterator[dict[str, Any]]:
    for module in model.modules():
        yield module._parameters
        yield module._buffers
