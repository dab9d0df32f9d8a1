import torch

from op_cases import floats, op

values, places = torch.nn.functional.max_pool2d(floats(2, 3, 6, 8), 2, return_indices=True)
op("aten.max_unpool2d.default", values, places, [6, 8])
op("aten.max_unpool2d.default", values[0], places[0], [6, 8])
values, places = torch.nn.functional.max_pool3d(floats(2, 3, 4, 6, 8), 2, return_indices=True)
op("aten.max_unpool3d.default", values, places, [4, 6, 8], [2, 2, 2], [0, 0, 0])
