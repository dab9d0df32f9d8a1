import torch

from op_cases import floats, op

OPSETS = (14, 16, 18, 20, 24)
for mode in (0, 1, 2):
    for padding in (0, 1, 2):
        for align in (False, True):
            opsets = OPSETS if mode < 2 else OPSETS[1:]
            image, grid = floats(2, 3, 5, 6), floats(2, 4, 7, 2, low=-1.7, high=1.7)
            op("aten.grid_sampler.default", image, grid, mode, padding, align, opsets=opsets)
            op("aten.grid_sampler_2d.default", image, grid, mode, padding, align, opsets=opsets)
            if mode < 2:
                image, grid = floats(2, 3, 4, 5, 6), floats(2, 3, 4, 5, 3, low=-1.7, high=1.7)
                op("aten.grid_sampler.default", image, grid, mode, padding, align, opsets=OPSETS)
                op("aten.grid_sampler_3d.default", image, grid, mode, padding, align, opsets=OPSETS)
op(
    "aten.grid_sampler.default",
    floats(2, 3, 5, 6),
    floats(2, 4, 7, 2),
    0,
    0,
    False,
    opsets=OPSETS,
    dynamic={0: {0: "b", 2: "h"}, 1: {0: "b", 1: "s"}},
    alternative=[floats(3, 3, 8, 6), floats(3, 5, 7, 2)],
)
op("aten.grid_sampler.default", floats(2, 3, 1, 1), floats(2, 4, 7, 2), 0, 2, True, opsets=OPSETS)
for dtype in (torch.float64,):
    op(
        "aten.grid_sampler.default",
        floats(2, 3, 5, 6, dtype=dtype),
        floats(2, 4, 7, 2, dtype=dtype),
        0,
        0,
        False,
        rtol=1e-5,
        opsets=OPSETS,
    )
