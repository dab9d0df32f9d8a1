import torch

from op_cases import floats, fn, ints, op

#: PyTorch fixes the length in a capture of `max_pool1d`.
DYNAMIC = {
    True: lambda size: {"dynamic": {0: {0: "b"}}, "alternative": [floats(1, 3, *size)]},
    False: lambda size: {"dynamic": {0: {0: "b", 2: "l"}}, "alternative": [floats(1, 3, size[0] + 3, *size[1:])]},
}
SHAPES = {1: (11,), 2: (10, 11), 3: (7, 8, 6)}
for n in (1, 2, 3):
    for target in (f"aten.max_pool{n}d.default", f"aten.max_pool{n}d_with_indices.default"):
        x = floats(2, 3, *SHAPES[n])
        op(target, x, [2] * n)
        op(target, x, [3] * n, [2] * n, [1] * n)
        op(target, x, [3] * n, [2] * n, [1] * n, [2] * n)
        op(target, x, [2] * n, [2] * n, [0] * n, [1] * n, True)
        op(target, x, [3] * n, [3] * n, [1] * n, [1] * n, True)
        op(target, x, list(range(2, n + 2)), list(range(1, n + 1)))
        op(target, floats(3, *SHAPES[n]), [2] * n)
        op(
            target,
            floats(2, 3, *SHAPES[n]),
            [3] * n,
            [2] * n,
            [1] * n,
            [1] * n,
            True,
            **DYNAMIC[target == "aten.max_pool1d.default"](SHAPES[n]),
        )
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    op("aten.max_pool2d.default", floats(1, 2, 6, 7, dtype=dtype), [3, 2], [2, 2], [1, 1])
for dtype in (torch.int64, torch.int32, torch.uint8):
    op("aten.max_pool2d.default", ints(1, 2, 6, 7, low=0, high=100, dtype=dtype), [2, 2])
op("aten.max_pool2d.default", floats(0, 2, 6, 7), [2, 2])
fn(
    "aten.max_pool2d.default",
    lambda x: torch.max_pool2d(torch.nn.functional.pad(x, (1, 1, 1, 1)), 3, 2),
    -floats(1, 2, 6, 7).abs(),
)
