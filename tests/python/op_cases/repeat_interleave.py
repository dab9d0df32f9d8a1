import torch

from op_cases import floats, op

op("aten.repeat_interleave.Tensor", torch.tensor([2, 0, 3]))
op("aten.repeat_interleave.self_Tensor", floats(3, 2), torch.tensor([2, 0, 3]), 0)
op("aten.repeat_interleave.self_Tensor", floats(3, 2), torch.tensor([2, 1]), -1)
