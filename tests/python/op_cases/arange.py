import torch

from op_cases import floats, fn, ints, op

op("aten.arange.default", 5)
op("aten.arange.default", 0)
op("aten.arange.default", 2.5)
op("aten.arange.default", 2000)
op("aten.arange.start", 2, 7)
op("aten.arange.start", -1.5, 3)
op("aten.arange.start", 3, 3000)
op("aten.arange.start_step", 0, 10, 3)
op("aten.arange.start_step", 10, 0, -2)
op("aten.arange.start_step", 0.0, 1.0, 0.1)
op("aten.arange.start_step", 1, 0, -0.25)
op("aten.arange.start_step", 0.0, 300.0, 0.1)
op("aten.arange.start_step", 0, 9000, 3)
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int16, torch.uint8):
    op("aten.arange.default", 7, dtype=dtype, opsets=(14, 20))
    op("aten.arange.start_step", 1, 20, 4, dtype=dtype, opsets=(14, 20))
for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int32):
    op("aten.arange.default", 2100, dtype=dtype, opsets=(14, 20))
fn("aten.arange.default", lambda x: torch.arange(x.shape[0]) + x, ints(3), dynamic={0: {0: "n"}}, alternative=[ints(6)])
fn(
    "aten.arange.default",
    lambda x: torch.arange(x.shape[0], dtype=torch.float32) * x,
    floats(3),
    dynamic={0: {0: "n"}},
    alternative=[floats(6)],
)
fn(
    "aten.arange.default",
    lambda x: torch.arange(x.shape[0], dtype=torch.int32),
    ints(3),
    dynamic={0: {0: "n"}},
    alternative=[ints(6)],
)
fn(
    "aten.arange.start",
    lambda x: torch.arange(2, x.shape[0] + 4),
    ints(3),
    dynamic={0: {0: "n"}},
    alternative=[ints(6)],
)
fn(
    "aten.arange.start",
    lambda x: torch.arange(x.shape[0], 2 * x.shape[0]) + x,
    ints(3),
    dynamic={0: {0: "n"}},
    alternative=[ints(6)],
)
fn(
    "aten.arange.start_step",
    lambda x: torch.arange(0, x.shape[0], 2),
    ints(5),
    dynamic={0: {0: "n"}},
    alternative=[ints(8)],
)
fn(
    "aten.arange.start_step",
    lambda x: torch.arange(x.shape[0], 0, -1) + x,
    ints(5),
    dynamic={0: {0: "n"}},
    alternative=[ints(8)],
)
fn(
    "aten.arange.start_step",
    lambda x: torch.arange(0.5, x.shape[0], 0.25),
    ints(5),
    dynamic={0: {0: "n"}},
    alternative=[ints(8)],
)
op("aten.range.default", 1, 5)
op("aten.range.step", 0, 2.0, 0.5)
