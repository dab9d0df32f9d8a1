"""Element types, sizes and strides in the form of an archive."""

from typing import Any

import sympy
import torch

# Numbers of the archive's schema.
DTYPES = {
    torch.uint8: 1,
    torch.int8: 2,
    torch.int16: 3,
    torch.int32: 4,
    torch.int64: 5,
    torch.float16: 6,
    torch.float32: 7,
    torch.float64: 8,
    torch.complex32: 9,
    torch.complex64: 10,
    torch.complex128: 11,
    torch.bool: 12,
    torch.bfloat16: 13,
    torch.uint16: 28,
    torch.float8_e4m3fn: 29,
    torch.float8_e5m2: 30,
    torch.float8_e4m3fnuz: 31,
    torch.float8_e5m2fnuz: 32,
    torch.float8_e8m0fnu: 33,
    torch.uint32: 34,
    torch.uint64: 35,
}

LAYOUTS = {
    torch.sparse_coo: 1,
    torch.sparse_csr: 2,
    torch.sparse_csc: 3,
    torch.sparse_bsr: 4,
    torch.sparse_bsc: 5,
    torch._mkldnn: 6,  # type: ignore[attr-defined]
    torch.strided: 7,
}

MEMORY_FORMATS = {
    torch.contiguous_format: 1,
    torch.channels_last: 2,
    torch.channels_last_3d: 3,
    torch.preserve_format: 4,
}


class TensorMetas:
    """Describes tensors and symbolic numbers; the same expressions come over and over and are printed once."""

    def __init__(self) -> None:
        self._texts: dict[sympy.Expr, str] = {}
        self._ints: dict[int, dict[str, int]] = {}

    def of(self, tensor: torch.Tensor) -> dict[str, Any]:
        is_strided = tensor.layout is torch.strided
        return {
            "dtype": DTYPES[tensor.dtype],
            "sizes": [self.sym_int(size) for size in tensor.shape],
            "strides": [self.sym_int(stride) for stride in (tensor.stride() if is_strided else tensor.shape)],
            "storage_offset": self.sym_int(tensor.storage_offset() if is_strided else 0),
            "layout": LAYOUTS[tensor.layout],
        }

    def sym_int(self, value: int | torch.SymInt) -> dict[str, Any]:
        if type(value) is int:
            known = self._ints.get(value)
            if known is None:
                known = self._ints[value] = {"as_int": value}
            return known
        if isinstance(value, torch.SymInt) and not value.node.expr.is_Integer:
            return {"as_expr": {"expr_str": self._text(value.node.expr)}}
        return {"as_int": int(value)}

    def sym_float(self, value: float | torch.SymFloat) -> dict[str, Any]:
        if isinstance(value, torch.SymFloat) and not isinstance(value.node.expr, (sympy.Float, sympy.Integer)):
            return {"as_expr": {"expr_str": self._text(value.node.expr)}}
        return {"as_float": number(float(value))}

    def sym_bool(self, value: bool | torch.SymBool) -> dict[str, Any]:
        if isinstance(value, torch.SymBool) and value.node.expr not in (sympy.true, sympy.false):
            return {"as_expr": {"expr_str": self._text(value.node.expr)}}
        return {"as_bool": bool(value)}

    def _text(self, expression: sympy.Expr) -> str:
        text = self._texts.get(expression)
        if text is None:
            text = self._texts[expression] = sympy.srepr(expression)
        return text


def number(value: float) -> float | str:
    """A float as an archive has it: JSON knows no infinities."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return value
