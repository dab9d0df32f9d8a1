import torch

from op_cases import bools, floats, ints, op

for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
    op("aten.pixel_shuffle.default", floats(2, 12, 3, 4, dtype=dtype), 2)
    op("aten.pixel_unshuffle.default", floats(2, 3, 6, 4, dtype=dtype), 2)
op("aten.pixel_shuffle.default", floats(18, 3, 4), 3)
op("aten.pixel_shuffle.default", floats(2, 3, 8, 3, 4), 2)
op("aten.pixel_shuffle.default", ints(2, 12, 3, 4), 2)
op(
    "aten.pixel_shuffle.default",
    floats(2, 12, 3, 4),
    2,
    dynamic={0: {0: "b", 2: "h", 3: "w"}},
    alternative=[floats(3, 12, 5, 6)],
)
op("aten.pixel_unshuffle.default", floats(3, 6, 4), 2)
op("aten.pixel_unshuffle.default", floats(2, 3, 6, 9), 3, dynamic={0: {0: "b"}}, alternative=[floats(4, 3, 6, 9)])
for target in ("aten.channel_shuffle.default", "aten.native_channel_shuffle.default"):
    op(target, floats(2, 6, 3, 4), 3)
    op(target, floats(2, 6, 3), 2)
op("aten.channel_shuffle.default", bools(2, 6, 3, 4), 2)
op(
    "aten.channel_shuffle.default",
    floats(2, 6, 3, 4),
    3,
    dynamic={0: {0: "b", 2: "h"}},
    alternative=[floats(3, 6, 5, 4)],
)
