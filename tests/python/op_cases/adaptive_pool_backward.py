import torch

from op_cases import floats, op

TARGET = "aten._adaptive_avg_pool2d_backward.default"
for pooled in ((5, 3), (1, 1), (10, 7), (5, 7), (1, 4), (4, 1), (3, 2), (13, 9)):
    op(TARGET, floats(2, 3, *pooled), floats(2, 3, 10, 7))
op(TARGET, floats(3, 4, 3), floats(3, 10, 7))
op(
    TARGET,
    floats(2, 3, 4, 3),
    floats(2, 3, 10, 7),
    dynamic={0: {0: "b"}, 1: {0: "b", 2: "h", 3: "w"}},
    alternative=[floats(1, 3, 4, 3), floats(1, 3, 9, 12)],
)
op(
    TARGET,
    floats(2, 3, 1, 1),
    floats(2, 3, 10, 7),
    dynamic={0: {0: "b"}, 1: {0: "b", 2: "h", 3: "w"}},
    alternative=[floats(1, 3, 1, 1), floats(1, 3, 9, 12)],
)
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    op(TARGET, floats(2, 3, 4, 3, dtype=dtype), floats(2, 3, 10, 7, dtype=dtype))
for pooled in ((2, 3, 4), (1, 1, 1), (5, 1, 3)):
    op("aten._adaptive_avg_pool3d_backward.default", floats(2, 3, *pooled), floats(2, 3, 5, 6, 7))
