import torch

from op_cases import bools, floats, ints, op

NAN = float("nan")
LEFT, RIGHT = torch.tensor([1.0, NAN, 2.0, -3.0, NAN]), torch.tensor([2.0, 1.0, NAN, -4.0, NAN])

for name in ("maximum.default", "minimum.default", "max.other", "min.other", "fmax.default", "fmin.default"):
    target = f"aten.{name}"
    op(target, floats(2, 3), floats(3))
    op(target, LEFT, RIGHT)
    op(target, floats(), floats(2))
    op(target, ints(2, 3), ints(3))
    op(target, ints(2, 3), floats(3))
    op(target, bools(4), bools(4))
    op(target, floats(4, 3), floats(3), dynamic={0: {0: "n"}}, alternative=[floats(2, 3), floats(3)])
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        op(target, floats(2, 4, dtype=dtype), floats(4, dtype=dtype), opsets=(14, 20, 24))
        op(target, LEFT.to(dtype), RIGHT.to(dtype), opsets=(20,))
    for dtype in (torch.int32, torch.int16, torch.int8, torch.uint8):
        op(target, ints(2, 4, dtype=dtype), ints(4, dtype=dtype), opsets=(14, 20))

X = torch.tensor([-2.0, -0.5, 0.0, 0.3, 4.0, NAN, float("inf")])
for name in ("clamp", "clip"):
    op(f"aten.{name}.default", X, -1.0, 1.0)
    op(f"aten.{name}.default", X, min=0)
    op(f"aten.{name}.default", X, max=0.5)
    op(f"aten.{name}.default", X, 1.0, -1.0)
    op(f"aten.{name}.default", ints(2, 5), -1, 2)
    op(f"aten.{name}.default", ints(2, 5), -1.5, 2)
    op(f"aten.{name}.default", ints(2, 5, dtype=torch.int32), min=0)
    op(f"aten.{name}.default", ints(2, 5, dtype=torch.int16), min=0)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        op(f"aten.{name}.default", floats(2, 5, dtype=dtype), -0.5, 0.25, opsets=(14, 20, 24))
    op(f"aten.{name}.default", floats(3, 4), -0.5, 0.5, dynamic={0: {0: "n"}}, alternative=[floats(5, 4)])
    op(f"aten.{name}.Tensor", floats(2, 3), floats(3, low=-1, high=-0.1), floats(2, 1, low=0, high=1))
    op(f"aten.{name}.Tensor", floats(2, 3), min=floats(3))
    op(f"aten.{name}.Tensor", floats(2, 3), max=floats(3))
    op(f"aten.{name}.Tensor", floats(2, 3), torch.tensor(-0.5), torch.tensor(0.5))
    op(f"aten.{name}.Tensor", ints(2, 3), ints(3), floats(3))
    op(f"aten.{name}.Tensor", floats(1, 3), floats(2, 3), floats(2, 1))
for bound in ("min", "max"):
    op(f"aten.clamp_{bound}.default", X, 0.25)
    op(f"aten.clamp_{bound}.default", ints(5), 1)
    op(f"aten.clamp_{bound}.default", ints(5), 0.5)
    op(f"aten.clamp_{bound}.default", floats(5, dtype=torch.bfloat16), 0.25, opsets=(14, 20))
    op(f"aten.clamp_{bound}.Tensor", floats(2, 3), floats(3))
    op(f"aten.clamp_{bound}.Tensor", ints(2, 3), ints(3))
    op(f"aten.clamp_{bound}.Tensor", floats(2, 3), torch.tensor(0.1))
