"""Puts back the contents of tensors that a forward pass on real data may write to."""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from modelexport import inputs as model_inputs
from modelexport.model_tensors import own_tensors


@contextlib.contextmanager
def kept_contents(model: torch.nn.Module, args: tuple, kwargs: dict[str, Any]) -> Iterator[None]:
    """Buffers, plain tensor attributes and inputs hold afterwards what they held before, bit by bit.

    Parameters are left out: they are most of a model's memory, and a pass in evaluation mode does not train them.
    """
    held = [tensor for module in model.modules() for kind, _, tensor in own_tensors(module) if kind != "parameter"]
    held += [tensor for _, tensor in model_inputs.leaves("", (args, kwargs))]
    copies = [(tensor, tensor.detach().clone()) for tensor in held if not tensor.is_meta]
    try:
        yield
    finally:
        with torch.no_grad():
            for tensor, copy in copies:
                if tensor.shape != copy.shape or not same_bits(tensor, copy):
                    tensor.data = copy


def same_bits(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether two tensors hold the same numbers; NaN may stand where NaN stood."""
    if left.layout is not torch.strided or left.is_quantized:
        return False
    if left.is_floating_point() or left.is_complex():
        return bool(torch.all((left == right) | ((left != left) & (right != right))))
    return torch.equal(left, right)
