import torch

from op_cases import floats, op

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
for name in ("elu", "celu", "selu", "leaky_relu", "rrelu"):
    target = f"aten.{name}.default"
    for dtype in FLOATS:
        op(target, floats(3, 7, dtype=dtype) * 4)
    op(target, torch.tensor([-float("inf"), -30.0, -0.0, 0.0, 30.0, float("inf"), float("nan")]))
    op(target, floats())
    op(target, floats(0, 3))
op("aten.elu.default", floats(3, 7), 0.5)
op("aten.elu.default", floats(3, 7), 0.5, 2, 0.3)
op("aten.celu.default", floats(3, 7), 0.5)
op("aten.celu.default", floats(3, 7), -0.5)
op("aten.leaky_relu.default", floats(3, 7), 0.3)
op("aten.rrelu.default", floats(3, 7), 0.1, 0.5)
op("aten.rrelu.default", floats(3, 7), 0.1, 0.5, True, compare="shape", opsets=(14, 18, 20))
op("aten.rrelu.default", floats(3, 7).abs(), 0.1, 0.5, True, opsets=(14, 18, 20))
op("aten.rrelu.default", floats(0, 7), 0.1, 0.5, True, opsets=(14, 18, 20))
for dtype in FLOATS:
    op("aten.prelu.default", floats(2, 3, 4, 5, dtype=dtype), floats(3, dtype=dtype))
op("aten.prelu.default", floats(2, 3), floats(3))
op("aten.prelu.default", floats(2, 3, 4), floats(1))
op("aten.prelu.default", floats(3), floats(1))
op("aten.prelu.default", floats(), floats(1))
op("aten._prelu_kernel.default", floats(2, 3, 4), floats(1, 3, 1))
