import torch

from op_cases import floats, op

OPSETS = (14, 18, 20, 24)
for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
    op("aten.im2col.default", floats(2, 3, 6, 8, dtype=dtype), [3, 2], [1, 1], [1, 0], [2, 1])
op("aten.im2col.default", floats(2, 3, 6, 8), [2, 4], [1, 1], [0, 0], [2, 4])
op("aten.im2col.default", floats(3, 6, 8), [2, 3], [2, 1], [1, 2], [1, 3])
op(
    "aten.im2col.default",
    floats(2, 3, 6, 8),
    [3, 3],
    [1, 1],
    [1, 1],
    [2, 2],
    dynamic={0: {0: "b", 2: "h", 3: "w"}},
    alternative=[floats(3, 3, 9, 7)],
)
op(
    "aten.im2col.default",
    floats(2, 3, 6, 8),
    [2, 2],
    [1, 1],
    [0, 0],
    [2, 2],
    dynamic={0: {0: "b"}},
    alternative=[floats(3, 3, 6, 8)],
)
for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
    op(
        "aten.col2im.default",
        floats(2, 3 * 6, 3 * 7, dtype=dtype),
        [6, 8],
        [3, 2],
        [1, 1],
        [1, 0],
        [2, 1],
        rtol=1e-5 if dtype == torch.float64 else None,
    )
op("aten.col2im.default", floats(2, 3 * 8, 6), [6, 8], [2, 4], [1, 1], [0, 0], [2, 4])
op("aten.col2im.default", floats(3 * 9, 32), [6, 8], [3, 3], [1, 2], [0, 2], [1, 1])
op("aten.col2im.default", floats(2, 3 * 9, 6), [6, 8], [3, 3], [1, 1], [0, 0], [2, 2])
op(
    "aten.col2im.default",
    floats(2, 3 * 4, 12),
    [6, 8],
    [2, 2],
    [1, 1],
    [0, 0],
    [2, 2],
    dynamic={0: {0: "b"}},
    alternative=[floats(3, 12, 12)],
)
op(
    "aten.col2im.default",
    floats(2, 3 * 9, 48),
    [6, 8],
    [3, 3],
    [1, 1],
    [1, 1],
    [1, 1],
    dynamic={0: {0: "b"}},
    alternative=[floats(3, 27, 48)],
)
