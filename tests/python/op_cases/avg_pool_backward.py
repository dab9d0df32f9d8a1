"""Gradients have the sizes that the pool gives, which `grad` takes from it."""

import torch

from op_cases import floats, op

POOLS = {2: torch.nn.functional.avg_pool2d, 3: torch.nn.functional.avg_pool3d}
SHAPES = {2: (10, 11), 3: (7, 8, 6)}


def grad(x, n, kernel, stride, padding, ceil, dtype=torch.float32):
    return floats(*POOLS[n](x.float(), kernel, stride, padding, ceil).shape, dtype=dtype)


def case(n, x, kernel, stride=(), padding=None, ceil=False, counts_pads=True, divisor=None, other=None, **settings):
    kernel, stride, padding = list(kernel), list(stride), list(padding or [0] * n)

    def make(x):
        return grad(x, n, kernel, stride or None, padding, ceil, x.dtype)

    if other is not None:
        settings["alternative"] = [make(other), other]
    op(
        f"aten.avg_pool{n}d_backward.default",
        make(x),
        x,
        kernel,
        stride,
        padding,
        ceil,
        counts_pads,
        divisor,
        **settings,
    )


for n in (2, 3):
    x = floats(2, 3, *SHAPES[n])
    case(n, x, [2] * n)
    for counts_pads in (True, False):
        for ceil in (False, True):
            case(n, x, [3] * n, [2] * n, [1] * n, ceil, counts_pads)
            case(n, x, [4, 3, 2][:n], [3, 1, 2][:n], [2, 1, 0][:n], ceil, counts_pads)
    case(n, x, [3] * n, [2] * n, [1] * n, True, False, 5)
    case(n, x, [1] * n, [3] * n)
    case(n, x, [2] * n, [4] * n, ceil=True)
    case(n, floats(3, *SHAPES[n]), [3] * n, [1] * n, [1] * n)
x, other = floats(2, 3, 10, 11), floats(1, 3, 13, 11)
DYNAMIC = {"dynamic": {0: {0: "b", 2: "pooled"}, 1: {0: "b", 2: "h"}}, "other": other}
case(2, x, [3, 3], [2, 2], [1, 1], **DYNAMIC)
case(2, x, [3, 3], [2, 2], [1, 1], True, False, **DYNAMIC)
case(2, x, [3, 2], [2, 3], [1, 1], True, True, **DYNAMIC)
case(2, x, [2, 2], [2, 2], [0, 0], True, True, **DYNAMIC)
case(2, x, [2, 3], [3, 2], [1, 0], False, False, 7, **DYNAMIC)
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    settings = {"rtol": 1e-5} if dtype == torch.float64 else {}
    case(2, floats(1, 2, 6, 7, dtype=dtype), [3, 2], [2, 2], [1, 1], **settings)
case(2, floats(0, 2, 6, 7), [2, 2])
