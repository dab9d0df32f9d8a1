import torch

from op_cases import floats, ints, op

for name in ("addcmul", "addcdiv"):
    target = f"aten.{name}.default"
    op(target, floats(2, 3), floats(2, 3), floats(3, low=1, high=2))
    op(target, floats(2, 3), floats(3), floats(2, 1, low=1, high=2), value=0.5)
    op(target, floats(3), floats(3), floats(3, low=1, high=2), value=-2)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        op(
            target,
            floats(3, dtype=dtype),
            floats(3, dtype=dtype),
            floats(3, dtype=dtype, low=1, high=2),
            value=0.1,
            opsets=(14, 20),
        )
    op(
        target,
        floats(2, 3),
        floats(2, 3),
        floats(3, low=1, high=2),
        dynamic={0: {0: "n"}, 1: {0: "n"}},
        alternative=[floats(4, 3), floats(4, 3), floats(3, low=1, high=2)],
    )
op("aten.addcmul.default", ints(2, 3), ints(2, 3), ints(3), value=2)

for weight in (0.2, 0.5, 0.9, 1.0, -0.7, 2):
    op("aten.lerp.Scalar", floats(2, 3), floats(3), weight)
op("aten.lerp.Tensor", floats(2, 3), floats(3), floats(2, 1, low=0, high=1))
for dtype in (torch.float64, torch.float16, torch.bfloat16):
    op("aten.lerp.Tensor", floats(3, dtype=dtype), floats(3, dtype=dtype), floats(3, dtype=dtype), opsets=(14, 20))
    op("aten.lerp.Scalar", floats(3, dtype=dtype), floats(3, dtype=dtype), 0.3, opsets=(14, 20))

X = torch.tensor([-1.0, 0.0, -0.0, 2.0, float("nan"), float("inf"), float("-inf")])
op("aten.heaviside.default", X, torch.tensor(0.5))
op("aten.heaviside.default", floats(2, 3), floats(3))
op("aten.heaviside.default", ints(5, low=-1, high=2), ints(5))
op("aten.heaviside.default", ints(5, low=-1, high=2).bfloat16(), floats(5, dtype=torch.bfloat16), opsets=(14, 20))
op("aten.threshold.default", X, 0.0, 7.0)
op("aten.threshold.default", floats(2, 3), 0.1, -20)
op("aten.threshold.default", ints(5), 1, 9)
op("aten.threshold.default", floats(5, dtype=torch.bfloat16), 0.1, 3.0, opsets=(14, 20))
