import torch

from op_cases import floats, op

for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
    op("aten._weight_norm.default", floats(4, 3, 2, dtype=dtype), floats(4, 1, 1, dtype=dtype))
op("aten._weight_norm.default", floats(4, 3, 5), floats(1, 1, 5), 2)
op("aten._weight_norm.default", floats(4, 3), floats(1), -1)
op("aten._weight_norm_interface.default", floats(4, 3, 2), floats(4, 1, 1))
op("aten._weight_norm_interface.default", floats(4, 3, 2), floats(1, 1, 2), 2)
