import torch

from op_cases import floats, fn, ints, op

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
wide = torch.tensor(
    [-float("inf"), -1000.0, -30.0, -3.0, -0.5, -0.0, 0.0, 0.5, 3.0, 25.0, 1000.0, float("inf"), float("nan")]
)
for name in (
    "silu",
    "mish",
    "softplus",
    "log_sigmoid",
    "hardswish",
    "hardsigmoid",
    "hardtanh",
    "relu6",
    "softshrink",
    "hardshrink",
):
    target = f"aten.{name}.default"
    for dtype in FLOATS:
        op(target, floats(3, 7, dtype=dtype) * 4)
    op(target, wide)
    op(target, floats())
    op(target, floats(0, 3))
    op(target, floats(2, 3), dynamic={0: {0: "b"}}, alternative=[floats(5, 3)])
op("aten.softplus.default", floats(3, 7) * 4, 2, 3)
op("aten.softplus.default", floats(3, 7) * 4, 0.5)
op("aten.hardtanh.default", floats(3, 7) * 4, -2, 1.5)
op("aten.hardtanh.default", ints(3, 7), -2, 3)
op("aten.hardtanh.default", ints(3, 7, dtype=torch.int16), -2, 3)
op("aten.relu6.default", ints(3, 7, high=20))
op("aten.softshrink.default", floats(3, 7), 0.1)
op("aten.hardshrink.default", floats(3, 7), 0.0)
for dtype in FLOATS:
    op("aten.glu.default", floats(3, 8, dtype=dtype))
op("aten.glu.default", floats(4, 3), 0)
op("aten.glu.default", floats(2, 4, 3), 1, dynamic={0: {0: "b"}}, alternative=[floats(3, 4, 3)])
op("aten.glu.default", floats(2, 4), 0, dynamic={0: {1: "s"}}, alternative=[floats(2, 6)])
op("aten.glu.default", floats(2, 8), 1, dynamic={0: {1: "twice"}}, alternative=[floats(2, 12)])
fn("aten.log_sigmoid_forward.default", lambda x: torch.ops.aten.log_sigmoid_forward.default(x)[0], floats(3, 7))
