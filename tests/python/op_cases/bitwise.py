import torch

from op_cases import bools, ints, op

for name in ("and", "or", "xor"):
    for target in (f"aten.bitwise_{name}.Tensor", f"aten.__{name}__.Tensor"):
        op(target, bools(3, 4), bools(4))
        op(target, bools(3, 4), ints(4, low=0, high=4))
        op(target, bools(3, 4), bools(4), dynamic={0: {0: "n"}}, alternative=[bools(2, 4), bools(4)])
        for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
            op(target, ints(3, 4, low=-99, high=99, dtype=dtype), ints(4, low=-99, high=99, dtype=dtype))
        op(target, ints(2, 3), ints(2, 3, dtype=torch.int32))
    for target in (f"aten.bitwise_{name}.Scalar", f"aten.__{name}__.Scalar"):
        op(target, ints(5, low=-99, high=99), 12)
        op(target, ints(5, low=-99, high=99), -7)
        op(target, bools(5), True)
        op(target, ints(5, dtype=torch.uint8, low=0, high=200), 15)
    op(f"aten.bitwise_{name}.Scalar_Tensor", 12, ints(5, low=-99, high=99))
    op(f"aten.bitwise_{name}.Scalar_Tensor", True, bools(5))
op("aten.bitwise_not.default", bools(2, 3))
op("aten.bitwise_not.default", bools())
for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
    op("aten.bitwise_not.default", ints(6, low=-99, high=99, dtype=dtype))
