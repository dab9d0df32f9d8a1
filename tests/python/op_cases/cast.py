import torch

from op_cases import bools, floats, fn, ints, op

X = torch.tensor([-2.7, -0.5, 0.0, 0.5, 1.9, 100.2])
TYPES = [
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.bool,
]

for dtype in TYPES:
    op("aten.to.dtype", X, dtype, opsets=(14, 20))
    op("aten.to.dtype", ints(5, low=-200, high=200), dtype, opsets=(14, 20))
    op("aten.to.dtype", bools(5), dtype, opsets=(14, 20))
    op("aten._to_copy.default", X, dtype=dtype, opsets=(14, 20))
    op("aten.to.dtype_layout", X, dtype=dtype, opsets=(14, 20))
    op("aten.type_as.default", X, ints(3).to(dtype), opsets=(14, 20))
    op("aten.to.other", X, ints(3).to(dtype), opsets=(14, 20))
op("aten.to.dtype", X.abs(), torch.uint8)
op("aten.to.dtype", torch.tensor([0.0, float("nan"), -0.0, 1e-30]), torch.bool)
op("aten.to.dtype", floats(3, 4), torch.float16, dynamic={0: {0: "n"}}, alternative=[floats(5, 4)])
op("aten.to.dtype", torch.tensor(2.7), torch.int64)
op("aten.to.dtype", floats(0, 3), torch.int32)
op("aten.to.device", X, torch.device("cpu"), torch.float64)
op("aten.to.device", X, torch.device("cpu"), torch.float32)
op("aten._to_copy.default", X)
for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
    op("aten.to.dtype", torch.tensor([0.1, -3.0, 1000.0, 1e6, 0.0]), dtype, opsets=(19, 20, 24))
for name in ["Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short"]:
    op(f"aten._cast_{name}.default", X.abs(), opsets=(14, 20))
op("aten.view.dtype", ints(4, dtype=torch.int32), torch.uint32)
op("aten.view.dtype", ints(4, dtype=torch.int8), torch.uint8)
op("aten.view_copy.dtype", ints(4, dtype=torch.uint8), torch.int8)
fn("aten.to.dtype", lambda x: torch.view_as_real(x.to(torch.complex64)), floats(2, 3))
fn("aten.to.dtype", lambda x: torch.view_as_complex(x).to(torch.complex128), floats(3, 2))
