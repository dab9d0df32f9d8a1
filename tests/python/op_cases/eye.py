import torch

from op_cases import floats, fn, op

op("aten.eye.default", 3)
op("aten.eye.default", 0)
op("aten.eye.default", 80)
op("aten.eye.m", 2, 4)
op("aten.eye.m", 90, 70)
for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool):
    op("aten.eye.default", 4, dtype=dtype, opsets=(14, 20))
    op("aten.eye.default", 80, dtype=dtype, opsets=(14, 20))
fn(
    "aten.eye.default",
    lambda x: torch.eye(x.shape[0]) + x,
    floats(3, 1),
    dynamic={0: {0: "n"}},
    alternative=[floats(5, 1)],
)
fn(
    "aten.eye.m",
    lambda x: torch.eye(x.shape[0], 4) + x,
    floats(3, 1),
    dynamic={0: {0: "n"}},
    alternative=[floats(5, 1)],
)
