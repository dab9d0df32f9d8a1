"""Gradients have the sizes and places that the pool gives."""

import torch

from op_cases import floats, ints, op

POOLS = {2: torch.ops.aten.max_pool2d_with_indices.default, 3: torch.ops.aten.max_pool3d_with_indices.default}
SHAPES = {2: (10, 11), 3: (7, 8, 6)}
OPSETS = (14, 15, 16, 18, 20, 24)


def case(n, x, kernel, stride=(), padding=None, dilation=None, ceil=False, other=None, **settings):
    window = [list(kernel), list(stride), list(padding or [0] * n), list(dilation or [1] * n), ceil]

    def make(x):
        values, places = POOLS[n](x, *window)
        return floats(*values.shape, dtype=x.dtype), x, places

    if other is not None:
        settings["alternative"] = list(make(other))
    grad, x, places = make(x)
    op(f"aten.max_pool{n}d_with_indices_backward.default", grad, x, *window, places, opsets=OPSETS, **settings)


for n in (2, 3):
    x = floats(2, 3, *SHAPES[n])
    case(n, x, [2] * n)
    case(n, x, [3] * n, [2] * n, [1] * n)
    case(n, x, [3] * n, [1] * n, [1] * n)
    case(n, x, [3] * n, [2] * n, [1] * n, [2] * n)
    case(n, x, [3] * n, [3] * n, [1] * n, None, True)
    case(n, x, [2, 3, 4][:n], [1, 2, 3][:n])
    case(n, floats(3, *SHAPES[n]), [3] * n, [2] * n)
# Equal elements: the first is the maximum of all windows that see it.
case(2, ints(2, 3, 10, 11, low=0, high=3).float(), [3, 3], [1, 1], [1, 1])
case(2, floats(2, 3, 4, 11), [4, 5], [1, 2])
DYNAMIC = {0: {0: "b", 2: "pooled"}, 1: {0: "b", 2: "h"}, 2: {0: "b", 2: "pooled"}}
case(2, floats(2, 3, 10, 11), [3, 3], [2, 2], [1, 1], None, True, other=floats(1, 3, 13, 11), dynamic=DYNAMIC)
case(2, floats(2, 3, 10, 11), [2, 2], other=floats(1, 3, 15, 11), dynamic=DYNAMIC)
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    case(2, floats(1, 2, 6, 7, dtype=dtype), [3, 2], [2, 1], [1, 1])
