import torch

from op_cases import floats, ints, op

SHAPES = {1: (11,), 2: (10, 11), 3: (7, 8, 6)}
for n in (1, 2, 3):
    target = f"aten.avg_pool{n}d.default"
    x = floats(2, 3, *SHAPES[n])
    op(target, x, [2] * n)
    op(target, x, [3] * n, [2] * n, [1] * n)
    op(target, x, [3] * n, [2] * n, [1] * n, False, False)
    op(target, x, [3] * n, [2] * n, [1] * n, True, True)
    op(target, x, [3] * n, [2] * n, [1] * n, True, False)
    op(target, x, [4] * n, [3] * n, [0] * n, True, True)
    op(target, floats(3, *SHAPES[n]), [2] * n)
    op(
        target,
        floats(2, 3, *SHAPES[n]),
        [3] * n,
        [2] * n,
        [1] * n,
        True,
        True,
        dynamic={0: {0: "b", 2: "l"}},
        alternative=[floats(1, 3, SHAPES[n][0] + 3, *SHAPES[n][1:])],
    )
    if n > 1:
        op(target, x, [3] * n, [2] * n, [1] * n, False, True, 5)
        op(target, x, [3] * n, [2] * n, [1] * n, True, False, 4)
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    settings = {"rtol": 1e-5} if dtype == torch.float64 else {}
    op("aten.avg_pool2d.default", floats(1, 2, 6, 7, dtype=dtype), [3, 2], [2, 2], [1, 1], **settings)
for n in (1, 2, 3):
    target = f"aten.avg_pool{n}d.default"
    x = ints(2, 3, *SHAPES[n], low=-50, high=50)
    op(target, x, [2] * n)
    for ceil in (False, True):
        for counts_pads in (False, True):
            op(target, x, [3] * n, [2] * n, [1] * n, ceil, counts_pads)
    op(target, ints(3, *SHAPES[n], low=-50, high=50), [4] * n, [3] * n, [0] * n, True, True)
op("aten.avg_pool2d.default", ints(2, 3, 10, 11, low=-50, high=50), [3, 2], [2, 2], [1, 1], True, True, 5)
op("aten.avg_pool2d.default", ints(2, 3, 10, 11), [3, 2], dynamic={0: {0: "b"}}, alternative=[ints(4, 3, 10, 11)])
