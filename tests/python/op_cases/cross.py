import torch

from op_cases import floats, ints, op

op("aten.cross.default", floats(4, 3), floats(4, 3, low=-1))
op("aten.cross.default", floats(3, 3), floats(3, 3, low=-1))
op("aten.cross.default", floats(3, 4), floats(3, 4, low=-1), 0)
op("aten.linalg_cross.default", floats(4, 3), floats(4, 3, low=-1))
op("aten.linalg_cross.default", floats(4, 3), floats(1, 3, low=-1))
op("aten.linalg_cross.default", floats(2, 3, 4), floats(2, 3, 4, low=-1), dim=1)
op("aten.linalg_cross.default", ints(4, 3), ints(4, 3, low=0))
op(
    "aten.linalg_cross.default",
    floats(4, 3, dtype=torch.bfloat16),
    floats(4, 3, dtype=torch.bfloat16, low=-1),
    opsets=(14, 20),
)
op(
    "aten.linalg_cross.default",
    floats(4, 3),
    floats(4, 3, low=-1),
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[floats(2, 3), floats(2, 3, low=-1)],
)
