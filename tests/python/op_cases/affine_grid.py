import torch

from op_cases import floats, op

for align in (False, True):
    op("aten.affine_grid_generator.default", floats(2, 2, 3), [2, 3, 4, 5], align)
    op("aten.affine_grid_generator.default", floats(2, 3, 4), [2, 3, 4, 5, 2], align)
    op("aten.affine_grid_generator.default", floats(2, 2, 3), [2, 3, 1, 5], align)
op("aten.affine_grid_generator.default", floats(2, 2, 3, dtype=torch.float64), [2, 3, 4, 5], False)
