import torch
from op_cases import floats, fn, op

for align in (False, True):
    op("aten.affine_grid_generator.default", floats(2, 2, 3), [2, 3, 4, 5], align)
    op("aten.affine_grid_generator.default", floats(2, 3, 4), [2, 3, 4, 5, 2], align)
    op("aten.affine_grid_generator.default", floats(2, 2, 3), [2, 3, 1, 5], align)
    fn("aten.affine_grid_generator.default",
       lambda theta, x, align=align: torch.ops.aten.affine_grid_generator.default(theta, x.shape, align),
       floats(2, 2, 3), floats(2, 3, 4, 5), dynamic={1: {2: "h", 3: "w"}},
       alternative=[floats(2, 2, 3), floats(2, 3, 6, 3)])
op("aten.affine_grid_generator.default", floats(2, 2, 3, dtype=torch.float64), [2, 3, 4, 5], False)
