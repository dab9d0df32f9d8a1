import torch

from op_cases import floats, op

for p in (1, 2, 3, 0.5, float("inf")):
    op("aten.renorm.default", floats(4, 3, 2), p, 1, 1.5)
op("aten.renorm.default", floats(4, 3, dtype=torch.float16), 2, -1, 1)
op("aten.renorm.default", floats(4, 3), 2, 0, 1, dynamic={0: {0: "n"}}, alternative=[floats(6, 3)])
