import torch

from op_cases import floats, ints, op

SHAPES = {1: (9,), 2: (8, 9), 3: (5, 6, 7)}
for n, target in ((1, "aten.conv1d.default"), (2, "aten.conv2d.default"), (3, "aten.conv3d.default")):
    size = SHAPES[n]
    kernel = (3, 2, 3)[:n]
    op(target, floats(2, 4, *size), floats(6, 4, *kernel), floats(6))
    op(target, floats(2, 4, *size), floats(6, 2, *kernel), None, [2] * n, [1] * n, [1] * n, 2)
    op(
        target,
        floats(2, 4, *size),
        floats(4, 1, *kernel),
        floats(4),
        list(range(1, n + 1)),
        [1] * n,
        [2] * n,
        4,
        dynamic={0: {0: "b", 2: "l"}},
        alternative=[floats(3, 4, size[0] + 3, *size[1:]), floats(4, 1, *kernel), floats(4)],
    )
    op(target, floats(4, *size), floats(6, 4, *kernel), floats(6))
for n in (1, 2, 3):
    target = f"aten.conv{n}d.padding"
    kernel = (3, 4, 2)[:n]
    op(target, floats(2, 4, *SHAPES[n]), floats(6, 4, *kernel), floats(6), [1] * n, "same")
    op(target, floats(2, 4, *SHAPES[n]), floats(6, 2, *kernel), None, [1] * n, "same", [2] * n, 2)
    op(target, floats(2, 4, *SHAPES[n]), floats(6, 4, *kernel), None, [2] * n, "valid")
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    settings = {"rtol": 1e-5} if dtype == torch.float64 else {}
    op(
        "aten.conv2d.default",
        floats(1, 3, 6, 6, dtype=dtype),
        floats(4, 3, 3, 3, dtype=dtype),
        floats(4, dtype=dtype),
        **settings,
    )
op("aten.conv2d.default", floats(0, 3, 6, 6), floats(4, 3, 3, 3), floats(4))

for n, target in (
    (1, "aten.conv_transpose1d.default"),
    (2, "aten.conv_transpose2d.input"),
    (3, "aten.conv_transpose3d.input"),
):
    size = (5, 4, 3)[:n]
    kernel = (3, 2, 4)[:n]
    op(target, floats(2, 4, *size), floats(4, 3, *kernel), floats(3))
    op(target, floats(2, 4, *size), floats(4, 3, *kernel), None, [3] * n, [1] * n, [2] * n, 2, [2] * n)
    op(target, floats(4, *size), floats(4, 3, *kernel), floats(3), [2] * n)
op(
    "aten.conv_transpose2d.input",
    floats(2, 4, 5, 6),
    floats(4, 3, 3, 3),
    floats(3),
    [2, 2],
    [1, 1],
    [1, 1],
    dynamic={0: {0: "b", 2: "h", 3: "w"}},
    alternative=[floats(1, 4, 7, 3), floats(4, 3, 3, 3), floats(3)],
)
op("aten.conv_transpose2d.input", floats(2, 4, 5, 6, dtype=torch.bfloat16), floats(4, 3, 3, 3, dtype=torch.bfloat16))

op(
    "aten.convolution.default",
    floats(2, 4, 8, 9),
    floats(6, 4, 3, 3),
    floats(6),
    [1, 2],
    [1, 1],
    [1, 1],
    False,
    [0, 0],
    1,
)
op("aten.convolution.default", floats(2, 4, 8), floats(4, 3, 3), None, [2], [1], [1], True, [1], 2)
op(
    "aten._convolution.default",
    floats(2, 4, 8),
    floats(6, 4, 3),
    floats(6),
    [1],
    [1],
    [1],
    False,
    [0],
    1,
    False,
    False,
    True,
    True,
)
op(
    "aten._convolution.deprecated",
    floats(2, 4, 8),
    floats(6, 4, 3),
    floats(6),
    [1],
    [1],
    [1],
    False,
    [0],
    1,
    False,
    False,
    True,
)
op("aten.conv_tbc.default", floats(7, 2, 3), floats(3, 3, 5), floats(5), 1)
op("aten.conv_tbc.default", floats(7, 2, 3), floats(2, 3, 5), floats(5))
for n, target in (
    (1, "aten.conv_transpose1d.default"),
    (2, "aten.conv_transpose2d.input"),
    (3, "aten.conv_transpose3d.input"),
):
    size, kernel = (5, 4, 3)[:n], (2, 3, 2)[:n]
    for stride, padding, more, dilation in (
        (1, 0, 1, 2),
        (1, 1, 1, 2),
        (2, 0, 2, 3),
        (2, 3, 2, 3),
        (1, 1, 2, 3),
        (2, 1, 3, 4),
    ):
        op(
            target,
            floats(2, 4, *size),
            floats(4, 3, *kernel),
            floats(3),
            [stride] * n,
            [padding] * n,
            [more] * n,
            1,
            [dilation] * n,
            opsets=(14, 20),
        )
    op(target, floats(4, *size), floats(4, 3, *kernel), floats(6), [2] * n, [1] * n, [2] * n, 2, [3] * n)
    op(
        "aten.convolution.default",
        floats(2, 4, *size),
        floats(4, 3, *kernel),
        None,
        [1] * n,
        [0] * n,
        [2] * n,
        True,
        [1] * n,
        1,
    )
op(
    "aten.conv_transpose2d.input",
    floats(2, 4, 5, 6, dtype=torch.bfloat16),
    floats(4, 3, 3, 3, dtype=torch.bfloat16),
    floats(3, dtype=torch.bfloat16),
    [2, 1],
    [1, 0],
    [1, 1],
    1,
    [1, 2],
)
op(
    "aten.conv_transpose2d.input",
    floats(2, 4, 5, 6),
    floats(4, 3, 3, 3),
    floats(3),
    [1, 1],
    [0, 0],
    [1, 1],
    1,
    [2, 2],
    dynamic={0: {0: "b", 2: "h", 3: "w"}},
    alternative=[floats(1, 4, 7, 3), floats(4, 3, 3, 3), floats(3)],
)
for n in (1, 2, 3):
    size, kernel = SHAPES[n], (3, 2, 3)[:n]
    op(
        f"aten.conv{n}d.default",
        ints(2, 4, *size),
        ints(6, 2, *kernel),
        ints(6),
        list(range(1, n + 1)),
        [1] * n,
        [2] * n,
        2,
    )
    op(f"aten.conv{n}d.default", ints(4, *size), ints(6, 4, *kernel))
    op(f"aten.conv{n}d.padding", ints(2, 4, *size), ints(6, 4, *kernel), None, [1] * n, "same")
    op(
        f"aten.conv_transpose{n}d.{'default' if n == 1 else 'input'}",
        ints(2, 4, *size),
        ints(4, 3, *kernel),
        ints(6),
        list(range(2, n + 2)),
        [1] * n,
        [1] * n,
        2,
        [2] * n,
    )
op(
    "aten.conv2d.default",
    ints(2, 4, 8, 9),
    ints(6, 4, 3, 3),
    ints(6),
    dynamic={0: {0: "b"}},
    alternative=[ints(3, 4, 8, 9), ints(6, 4, 3, 3), ints(6)],
)
op("aten.conv1d.default", ints(0, 4, 8), ints(6, 4, 3), ints(6))
op("aten.conv1d.default", ints(2, 4, 8, dtype=torch.int32), ints(6, 4, 3, dtype=torch.int32))
