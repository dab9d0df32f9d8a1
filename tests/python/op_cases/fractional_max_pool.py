import torch

from op_cases import floats, op

op("aten.fractional_max_pool2d.default", floats(2, 3, 9, 11), [2, 3], [4, 5], floats(2, 3, 2, low=0.0))
op("aten.fractional_max_pool2d.default", floats(3, 9, 11), [3, 3], [1, 4], floats(1, 3, 2, low=0.0))
op(
    "aten.fractional_max_pool2d.default",
    floats(2, 3, 9, 11, dtype=torch.float64),
    [2, 2],
    [3, 4],
    floats(2, 3, 2, low=0.0, dtype=torch.float64),
)
op(
    "aten.fractional_max_pool2d.default",
    floats(2, 3, 9, 11),
    [2, 3],
    [4, 5],
    floats(2, 3, 2, low=0.0),
    dynamic={0: {0: "batch"}, 1: {0: "batch"}},
    alternative=[floats(4, 3, 9, 11), floats(4, 3, 2, low=0.0)],
)
op("aten.fractional_max_pool3d.default", floats(2, 3, 6, 7, 8), [2, 3, 2], [3, 2, 4], floats(2, 3, 3, low=0.0))
op("aten.fractional_max_pool3d.default", floats(3, 6, 7, 8), [2, 2, 2], [3, 3, 3], floats(1, 3, 3, low=0.0))
