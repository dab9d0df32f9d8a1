import torch

from op_cases import floats, ints, op

op("aten.linalg_vander.default", floats(3))
op("aten.linalg_vander.default", floats(2, 3), N=5)
op("aten.linalg_vander.default", floats(2, 3), N=2)
op("aten.linalg_vander.default", ints(4))
op("aten.linalg_vander.default", ints(4, dtype=torch.int32), N=6)
op("aten.linalg_vander.default", torch.tensor([3, -7], dtype=torch.int64), N=30)
op("aten.linalg_vander.default", torch.zeros(2))
op("aten.linalg_vander.default", floats(4, dtype=torch.float64), opsets=(14, 20))
op("aten.linalg_vander.default", floats(2, 3), dynamic={0: {0: "b", 1: "n"}}, alternative=[floats(4, 5)])
