"""Gradients have the sizes that the convolution gives. PyTorch's CPU kernels fill in some results that `output_mask`
leaves out, while a capture never has them: the cases return what the mask asks for."""

import torch

from op_cases import floats, fn

TARGET = "aten.convolution_backward.default"
SHAPES = {1: (9,), 2: (8, 9), 3: (5, 6, 7)}
MASKS = ([True, False, False], [False, True, False], [False, False, True], [True, False, True], [False, True, True])


def case(
    n,
    kernel,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
    transposed=False,
    output_padding=0,
    mask=(True, True, True),
    batch=2,
    size=None,
    dtype=torch.float32,
    other=None,
    **settings,
):
    def each(value):
        return list(value) if isinstance(value, (list, tuple)) else [value] * n

    window = each(stride), each(padding), each(dilation), transposed, each(output_padding), groups
    weight = (
        floats(4, 6 // groups, *kernel, dtype=dtype) if transposed else floats(6, 4 // groups, *kernel, dtype=dtype)
    )

    def make(batch, size):
        x = floats(batch, 4, *size, dtype=dtype)
        y = torch.convolution(x.float(), weight.float(), None, *window)
        return [floats(*y.shape, dtype=dtype), x, weight]

    def call(grad, x, weight):
        results = torch.ops.aten.convolution_backward.default(grad, x, weight, [6], *window, list(mask))
        return [result for result, is_wanted in zip(results, mask, strict=True) if is_wanted]

    if other is not None:
        settings["alternative"] = make(*other)
    fn(TARGET, call, *make(batch, size or SHAPES[n]), **settings)


case(2, (3, 2))
for n in (1, 2, 3):
    kernel = (3, 2, 4)[:n]
    if n != 2:
        case(n, kernel)
    case(n, kernel, padding=1)
    case(n, kernel, 2, 1)
    case(n, kernel, 2, 1, 2, 2)
    case(n, kernel, (3, 2, 1)[:n], (0, 1, 2)[:n], groups=2)
    case(n, (1,) * n, 3)
    case(n, (1,) * n, 1)
    case(n, kernel, transposed=True)
    case(n, kernel, 2, 1, transposed=True, output_padding=1)
    case(n, kernel, 3, 1, 2, 2, True, 2)
    case(n, kernel, 1, 0, 3, 1, True, 2)
case(1, (3,), 2, 1, groups=2, mask=MASKS[0])
for mask in MASKS:
    case(2, (3, 3), 2, 1, mask=mask)
    case(2, (3, 3), 2, 1, transposed=True, mask=mask)
DYNAMIC = {0: {0: "b", 2: "out"}, 1: {0: "b", 2: "h"}}
for transposed in (False, True):
    for groups in (1, 2):
        case(2, (3, 3), 2, 1, groups=groups, transposed=transposed, other=(3, (12, 9)), dynamic=DYNAMIC)
    case(2, (3, 2), transposed=transposed, other=(3, (12, 9)), dynamic=DYNAMIC)
    case(2, (3, 2), transposed=transposed, batch=0)
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        settings = {"rtol": 1e-5} if dtype == torch.float64 else {}
        case(2, (3, 3), 2, 1, transposed=transposed, dtype=dtype, **settings)
