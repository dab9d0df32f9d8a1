"""Gradients of norms, from the statistics that the norms give. A result that `output_mask` leaves out is `None`, which
the harness passes over."""

import torch

from op_cases import floats, fn, op

LAYER, GROUP = "aten.native_layer_norm_backward.default", "aten.native_group_norm_backward.default"
MASKS = ([True, True, True], [True, False, False], [False, True, False], [False, False, True], [False, True, True])


def layer(shape, normalized, mask=(True, True, True), dtype=torch.float32, affine=True, other=None, **settings):
    def make(shape):
        x = floats(*shape, dtype=dtype)
        _, mean, inverse = torch.native_layer_norm(x, normalized, None, None, 1e-5)
        weight, bias = (floats(*normalized, dtype=dtype), floats(*normalized, dtype=dtype)) if affine else (None, None)
        return [x.flip(-1).contiguous(), x, normalized, mean, inverse, weight, bias]

    if other is not None:
        settings["alternative"] = [part for part in make(other) if isinstance(part, torch.Tensor)]
    op(LAYER, *make(shape), list(mask), **settings)


def group(shape, groups, mask=(True, True, True), dtype=torch.float32, affine=True, **settings):
    x = floats(*shape, dtype=dtype)
    batch, channels, rest = shape[0], shape[1], x[0, 0].numel() if x.numel() else 1
    _, mean, inverse = torch.native_group_norm(x, None, None, batch, channels, rest, groups, 1e-5)
    op(
        GROUP,
        x.flip(1).contiguous(),
        x,
        mean,
        inverse,
        floats(channels, dtype=dtype) if affine else None,
        batch,
        channels,
        rest,
        groups,
        list(mask),
        **settings,
    )


for mask in MASKS:
    layer((2, 3, 8), [8], mask)
    group((2, 6, 4, 5), 3, mask)
layer((2, 3, 8), [3, 8])
layer((2, 3, 8), [2, 3, 8])
layer((2, 3, 8), [8], [True, False, False], affine=False)
layer((2, 3, 8), [8], other=(4, 5, 8), dynamic={i: {0: "b", 1: "l"} for i in range(4)})
group((2, 6), 2)
group((2, 6, 5), 1)
group((2, 6, 5), 6)
group((2, 6, 2, 3, 4), 2, [True, False, False], affine=False)
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    layer((2, 3, 8), [8], dtype=dtype)
    group((2, 6, 4, 5), 3, dtype=dtype)
layer((0, 3, 8), [8])


def sizes_of_the_input(grad, x, mean, inverse, weight):
    batch, channels, height, width = x.shape
    return torch.ops.aten.native_group_norm_backward.default(
        grad, x, mean, inverse, weight, batch, channels, height * width, 3, [True, True, True]
    )


def tensors(*shape):
    x = floats(*shape)
    _, mean, inverse = torch.native_group_norm(x, None, None, shape[0], shape[1], shape[2] * shape[3], 3, 1e-5)
    return x.flip(1).contiguous(), x, mean, inverse, floats(shape[1])


fn(
    GROUP,
    sizes_of_the_input,
    *tensors(2, 6, 4, 5),
    alternative=list(tensors(3, 6, 7, 5)),
    dynamic={0: {0: "b", 2: "h"}, 1: {0: "b", 2: "h"}, 2: {0: "b"}, 3: {0: "b"}},
)
