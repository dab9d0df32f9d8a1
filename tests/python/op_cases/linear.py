import torch

from op_cases import floats, ints, op

op("aten.linear.default", floats(2, 3), floats(4, 3))
op("aten.linear.default", floats(2, 3), floats(4, 3), floats(4))
op(
    "aten.linear.default",
    floats(2, 5, 3),
    floats(4, 3),
    floats(4),
    dynamic={0: {0: "b", 1: "s"}},
    alternative=[floats(3, 7, 3), floats(4, 3), floats(4)],
)
op(
    "aten.linear.default",
    floats(2, 3),
    floats(4, 3),
    floats(4),
    dynamic={0: {0: "b"}},
    alternative=[floats(5, 3), floats(4, 3), floats(4)],
)
op("aten.linear.default", floats(3), floats(4, 3), floats(4))
op("aten.linear.default", floats(2, 3), floats(3))
op("aten.linear.default", floats(0, 3), floats(4, 3), floats(4))
op("aten.linear.default", floats(2, 0), floats(4, 0), floats(4))
op("aten.linear.default", ints(2, 3), ints(4, 3), ints(4))
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    op("aten.linear.default", floats(2, 3, dtype=dtype), floats(4, 3, dtype=dtype), floats(4, dtype=dtype))
    op("aten.linear.default", floats(2, 2, 3, dtype=dtype), floats(4, 3, dtype=dtype), floats(4, dtype=dtype))
op("aten.linear.default", floats(2, 0), floats(4, 0), floats(4))
op("aten.linear.default", floats(5, 2, 0), floats(4, 0), floats(4))
op("aten.linear.default", floats(5, 64, 0), floats(32, 0))
op("aten.linear.default", floats(0), floats(4, 0), floats(4))
op("aten.linear.default", floats(0, 3), floats(4, 3), floats(4))
op("aten.linear.default", floats(2, 3), floats(0, 3), floats(0))
