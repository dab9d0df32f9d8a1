import torch

from op_cases import bools, floats, ints, op

op("aten.copy.default", floats(2, 3), floats(2, 3))
op("aten.copy.default", floats(2, 3), floats(3))
op("aten.copy.default", floats(2, 3), floats())
op("aten.copy.default", ints(2, 3), floats(2, 1))
op("aten.copy.default", floats(2, 3, dtype=torch.float16), ints(2, 3))
op("aten.copy.default", bools(2, 3), floats(2, 3))
op("aten.copy.default", floats(0, 3), floats(3))
op("aten.copy.default", floats(2, 3, dtype=torch.bfloat16), floats(3, dtype=torch.bfloat16), opsets=(14, 20))
