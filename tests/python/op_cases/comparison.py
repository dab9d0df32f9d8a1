import torch

from op_cases import bools, floats, ints, op

NAN, INF = float("nan"), float("inf")
NAMES = ["eq", "ne", "not_equal", "lt", "less", "le", "less_equal", "gt", "greater", "ge", "greater_equal"]

for name in NAMES:
    tensor, scalar = f"aten.{name}.Tensor", f"aten.{name}.Scalar"
    op(tensor, ints(3, 4, low=-1, high=2).float(), ints(4, low=-1, high=2).float())
    op(tensor, torch.tensor([1.0, NAN, INF]), torch.tensor([1.0, NAN, -INF]))
    op(tensor, ints(3, 4), ints(4))
    op(tensor, ints(3, 4), ints(3, 1, dtype=torch.int32), opsets=(14, 20))
    op(tensor, ints(3, 4), floats(4), opsets=(14, 20))
    op(tensor, bools(3, 4), bools(4))
    op(tensor, bools(3, 4), ints(4), opsets=(14, 20))
    op(tensor, ints(4, dtype=torch.int16), ints(4, dtype=torch.uint8), opsets=(14, 20))
    op(tensor, ints(), ints(3), opsets=(14, 20))
    op(tensor, ints(3, 4), ints(3, 4), dynamic={0: {0: "n"}, 1: {0: "n"}}, alternative=[ints(2, 4), ints(2, 4)])
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        op(tensor, ints(5, low=-1, high=2).to(dtype), ints(5, low=-2, high=1).to(dtype), opsets=(14, 18, 24))
        op(scalar, ints(5, low=-1, high=2).to(dtype), 1, opsets=(14, 18, 24))
    op(scalar, ints(3, 4), 2)
    op(scalar, ints(3, 4), 1.5)
    op(scalar, floats(3, 4), 0)
    op(scalar, torch.tensor([0.1, 0.2]).half(), 0.1, opsets=(14, 20))
    op(scalar, torch.tensor([0.1, 0.2]).bfloat16(), 0.1, opsets=(14, 20))
    op(scalar, bools(4), True)
    op(scalar, bools(4), 1, opsets=(14, 20))
    op(scalar, floats(0, 2), 1, opsets=(14, 20))
    op(scalar, ints(4, dtype=torch.int8), 1, opsets=(14, 20))

A = torch.tensor([1.0, 1.0, INF, INF, NAN, 0.0, 5.0, -INF])
B = torch.tensor([1.00001, 1.1, INF, -INF, NAN, 1e-9, INF, 2.0])
op("aten.isclose.default", A, B)
op("aten.isclose.default", A, B, 0.2)
op("aten.isclose.default", A, B, 0.0, 0.0)
op("aten.isclose.default", A, B, equal_nan=True)
op("aten.isclose.default", A.half(), B.half(), 1e-2)
op("aten.isclose.default", ints(5), ints(5, low=-4, high=5), 0.5)
