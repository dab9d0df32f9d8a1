"""Fingerprints of tensor content that do not depend on the order of elements; `docs/trace.md` defines them."""

import torch

from modelexport import _native


def fingerprint(tensor: torch.Tensor) -> str | None:
    """16 hexadecimal digits, or None where the content cannot be read: meta device, sparse, quantised, subclasses."""
    plain = type(tensor) in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
    if not plain or tensor.is_meta or tensor.layout is not torch.strided or tensor.is_quantized:
        return None
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    if not torch.ops.aten.is_non_overlapping_and_dense(tensor):
        tensor = tensor.contiguous()
    # Dense memory holds each element once; in which order does not matter.
    length = tensor.numel() * tensor.element_size()
    return _native.content_fingerprint(tensor.data_ptr(), length, dtype_name(tensor.dtype))


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
