import torch

from op_cases import floats, ints, op

INF, NAN = float("inf"), float("nan")
Y = torch.tensor([0.0, 1.0, -1.0, 1.0, -1.0, 0.0, 2.0, -2.0, 0.0])
X = torch.tensor([0.0, 1.0, 1.0, -1.0, -1.0, -1.0, 0.0, 0.0, 3.0])
HALVES = (torch.float64, torch.float16, torch.bfloat16)

for name in ("atan2", "arctan2"):
    op(f"aten.{name}.default", Y, X)
    op(f"aten.{name}.default", floats(2, 3), floats(3))
    op(f"aten.{name}.default", ints(4), ints(4, low=1))
    for dtype in HALVES:
        op(f"aten.{name}.default", floats(3, dtype=dtype), floats(3, dtype=dtype), opsets=(14, 20, 24))
op("aten.hypot.default", floats(2, 3), floats(3))
op("aten.hypot.default", torch.tensor([3e30, 0.0, INF]), torch.tensor([4e30, 0.0, 1.0]))
for name in ("logaddexp", "logaddexp2"):
    op(f"aten.{name}.default", floats(2, 3), floats(3))
    op(
        f"aten.{name}.default",
        torch.tensor([1000.0, -1000.0, INF, -INF, INF, NAN, 3.0]),
        torch.tensor([1001.0, -1001.0, INF, -INF, -INF, 1.0, -INF]),
    )
    for dtype in HALVES:
        op(f"aten.{name}.default", floats(3, dtype=dtype), floats(3, dtype=dtype), opsets=(14, 20))
op("aten.hypot.default", floats(3, dtype=torch.float64), floats(3, dtype=torch.float64))
op("aten.copysign.Tensor", floats(2, 4), torch.tensor([1.0, -1.0, 0.0, -0.0]))
op("aten.copysign.Tensor", ints(2, 4), ints(4))
op("aten.copysign.Tensor", floats(4, dtype=torch.bfloat16), floats(4, dtype=torch.bfloat16), opsets=(14, 20))
op("aten.copysign.Scalar", floats(2, 4), -2.0)
op("aten.copysign.Scalar", floats(2, 4), 1)
op("aten.ldexp.Tensor", floats(2, 4), ints(4))
op("aten.ldexp.Tensor", ints(4), ints(4))

A = torch.tensor([0.0, 0.0, 2.0, 0.0, 1.5, -1.0])
B = torch.tensor([0.0, NAN, 3.0, INF, 0.0, 0.5])
for target in ("aten.xlogy.Tensor", "aten.special_xlogy.default", "aten.special_xlog1py.default"):
    op(target, A, B)
    op(target, ints(4), ints(4, low=1))
    op(target, floats(2, 3, dtype=torch.bfloat16), floats(3, low=0.1, high=2.0, dtype=torch.bfloat16), opsets=(14, 20))
    op(target, floats(2, 3), floats(3, low=0.1, high=2.0))
for target in ("aten.xlogy.Scalar_Other", "aten.special_xlogy.other_scalar", "aten.special_xlog1py.other_scalar"):
    op(target, A, 2.5)
    op(target, ints(4), 2)
for target in ("aten.xlogy.Scalar_Self", "aten.special_xlogy.self_scalar", "aten.special_xlog1py.self_scalar"):
    op(target, 2.5, floats(5, low=0.1, high=2.0))
    op(target, 0, B)
