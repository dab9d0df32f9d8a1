import torch

from op_cases import bools, floats, ints, op

op("aten.where.self", bools(2, 3), floats(2, 3), floats(3))
op("aten.where.self", bools(2, 1), floats(3), floats())
op("aten.where.self", bools(2, 3), ints(2, 3), floats(3))
op("aten.where.self", bools(2, 3), bools(2, 3), bools(3))
op("aten.where.self", bools(2, 3), bools(2, 3), ints(3))
op(
    "aten.where.self",
    bools(4, 3),
    floats(4, 3),
    floats(3),
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[bools(2, 3), floats(2, 3), floats(3)],
)
op("aten.where.self", torch.tensor(True), floats(3), floats(3))
for dtype in (torch.float64, torch.float16, torch.bfloat16):
    op("aten.where.self", bools(2, 3), floats(2, 3, dtype=dtype), floats(3, dtype=dtype), opsets=(14, 20, 24))
for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
    op("aten.where.self", bools(2, 3), ints(2, 3, dtype=dtype), ints(3, dtype=dtype), opsets=(14, 20))
for number in (0, 1.5, float("-inf")):
    op("aten.where.ScalarOther", bools(2, 3), floats(2, 3), number)
    op("aten.where.ScalarSelf", bools(2, 3), number, floats(2, 3))
    op("aten.where.ScalarOther", bools(2, 3), ints(2, 3), number)
for truth in (True, False):
    op("aten.where.ScalarOther", bools(2, 3), bools(3), truth)
    op("aten.where.ScalarSelf", bools(2, 3), truth, bools(3))
    op("aten.where.Scalar", bools(2, 3), truth, not truth)
op("aten.where.Scalar", bools(2, 3), 1.0, -2.5)
op("aten.where.Scalar", bools(2, 3), 1, 0)
op("aten.where.Scalar", bools(2, 3), 0.0, float("-inf"), dynamic={0: {0: "n"}}, alternative=[bools(4, 3)])

COMPLEX = torch.complex(floats(2, 3), floats(2, 3, low=-1))
op("aten.where.self", bools(2, 3), COMPLEX, COMPLEX[:1] * 2)
op("aten.where.self", bools(2, 3), COMPLEX, floats(3))
