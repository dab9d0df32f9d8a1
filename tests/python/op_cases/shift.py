import torch

from op_cases import ints, op

COUNTS = torch.tensor([0, 1, 5, 31, 63, 64, -1])
for side, dunder in (("left", "__lshift__"), ("right", "__rshift__")):
    for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
        x = ints(3, 7, low=-99, high=99, dtype=dtype)
        op(f"aten.bitwise_{side}_shift.Tensor", x, COUNTS.to(dtype))
        for count in (0, 1, 3, 6):
            op(f"aten.bitwise_{side}_shift.Tensor_Scalar", x, count, opsets=(14, 20))
        op(f"aten.{dunder}.Tensor", x, COUNTS.to(dtype), opsets=(14, 20))
        op(f"aten.{dunder}.Scalar", x, 2, opsets=(14, 20))
    op(f"aten.bitwise_{side}_shift.Tensor_Scalar", ints(4, low=-99, high=99), 63)
    op(f"aten.bitwise_{side}_shift.Tensor_Scalar", ints(4, low=-99, high=99), 64)
    op(f"aten.bitwise_{side}_shift.Tensor_Scalar", ints(4, low=-99, high=99), 62)
    op(f"aten.bitwise_{side}_shift.Scalar_Tensor", 19, torch.tensor([0, 1, 4]))
    op(f"aten.bitwise_{side}_shift.Scalar_Tensor", -19, torch.tensor([0, 1, 4]))
