import torch

from op_cases import bools, floats, fn, ints, op

NAN = torch.tensor([[1.0, 3.0, 2.0, float("nan"), 9.0], [2.0, 2.0, 5.0, 5.0, -1.0]])
for name in ("cumsum", "cumprod"):
    for dim in (0, -1):
        op(f"aten.{name}.default", floats(2, 3, 4), dim)
    op(f"aten.{name}.default", floats(), 0)
    op(f"aten.{name}.default", ints(2, 3), 1)
    op(f"aten.{name}.default", bools(5), 0)
    op(f"aten.{name}.default", ints(5, dtype=torch.int32), 0)
    op(f"aten.{name}.default", ints(2, 3), 1, dtype=torch.float32)
    op(f"aten.{name}.default", ints(2, 3), 1, dtype=torch.int32)
    op(f"aten.{name}.default", floats(2, 3), 0, dynamic={0: {0: "n"}}, alternative=[floats(5, 3)])
    op(f"aten.{name}.default", floats(2, 3), 1, dynamic={0: {0: "n"}}, alternative=[floats(5, 3)])
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        op(f"aten.{name}.default", floats(2, 5, dtype=dtype), 1, opsets=(14, 20))
op("aten.cumsum.default", floats(0, 3), 0)
for name in ("cummax", "cummin"):
    op(f"aten.{name}.default", floats(2, 3, 4), 1)
    op(f"aten.{name}.default", NAN, 1)
    op(f"aten.{name}.default", floats(), 0)
    op(f"aten.{name}.default", ints(3, 4, low=0, high=2), -1)
    op(f"aten.{name}.default", bools(6), 0)
    op(f"aten.{name}.default", floats(2, 3), 1, dynamic={0: {0: "n", 1: "m"}}, alternative=[floats(5, 4)])
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int16, torch.uint8):
        op(f"aten.{name}.default", ints(2, 5).to(dtype), 1, opsets=(14, 20))
op("aten.logcumsumexp.default", floats(2, 5), 1)
op("aten.logcumsumexp.default", floats(2, 5), 0)
op("aten.logcumsumexp.default", torch.tensor([float("-inf"), float("-inf"), -500.0, 3.0, 1000.0]), 0)
op("aten.logcumsumexp.default", floats(5, dtype=torch.float64), 0)
op("aten.logcumsumexp.default", floats(5, dtype=torch.bfloat16), 0, opsets=(14, 20))
for shape in ((0,), (0, 3), (3, 0), (5, 0, 0), (5, 0, 2), (0, 0, 3)):
    for name in ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"):
        for dim in range(len(shape)):
            op(f"aten.{name}.default", floats(*shape), dim, opsets=(14, 20))
fn("aten.cumprod.default", lambda x, mask: torch.masked.cumprod(x, dim=1, mask=mask), floats(5, 0, 0), bools(5, 0, 0))
