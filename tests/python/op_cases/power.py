import torch

from op_cases import floats, fn, ints, op

for exponent in (2, 3, 0.5, -0.5, -1, 1, 0, 1.7, 2.0, -2):
    op("aten.pow.Tensor_Scalar", floats(2, 3, low=0.1, high=3.0), exponent)
for exponent in (0, 1, 2, 3, 5):
    op("aten.pow.Tensor_Scalar", ints(2, 3), exponent)
    op("aten.pow.Tensor_Scalar", ints(5, dtype=torch.int32), exponent, opsets=(14, 20))
    op("aten.pow.Tensor_Scalar", ints(5, dtype=torch.uint8, low=0), exponent, opsets=(14, 20))
op("aten.pow.Tensor_Scalar", ints(4, low=1), 0.5)
op("aten.pow.Tensor_Scalar", floats(4), 2, dynamic={0: {0: "n"}}, alternative=[floats(6)])
op("aten.pow.Tensor_Scalar", torch.tensor([0.0, float("inf"), float("nan"), -1.0]), 0.5)
op("aten.pow.Tensor_Scalar", torch.tensor([0.0, float("inf"), float("nan"), -1.0]), 0)
for dtype in (torch.float64, torch.float16, torch.bfloat16):
    op("aten.pow.Tensor_Scalar", floats(4, dtype=dtype, low=0.5, high=2.0), 2, opsets=(14, 20, 24))
    op("aten.pow.Tensor_Scalar", floats(4, dtype=dtype, low=0.5, high=2.0), 1.5, opsets=(14, 20, 24))
    op("aten.pow.Tensor_Tensor", floats(4, dtype=dtype, low=0.5, high=2.0), floats(4, dtype=dtype), opsets=(14, 20, 24))
op("aten.pow.Tensor_Tensor", floats(2, 3, low=0.1, high=2.0), floats(3))
op("aten.pow.Tensor_Tensor", floats(2, 3, low=0.1, high=2.0), ints(3))
op("aten.pow.Tensor_Tensor", ints(2, 3), ints(3, low=0, high=4))
op("aten.pow.Tensor_Tensor", ints(2, 3, low=1), floats(3))
op("aten.pow.Tensor_Tensor", ints(2, 3, low=1, dtype=torch.int32), ints(3, low=0))
op("aten.pow.Scalar", 2, ints(4, low=0))
op("aten.pow.Scalar", 10000.0, floats(2, 4))
op("aten.pow.Scalar", 10000, floats(2, 4), dynamic={0: {0: "n"}}, alternative=[floats(3, 4)])
op("aten.pow.Scalar", 2.5, ints(4))
op("aten.pow.Scalar", 1, ints(4))
op("aten.float_power.Tensor_Scalar", floats(4, low=0.1, high=2.0), 2)
op("aten.float_power.Tensor_Scalar", ints(4, low=1), -1.5)
op("aten.float_power.Tensor_Tensor", floats(4, low=0.1, high=2.0), ints(4))
op("aten.float_power.Scalar", 3, floats(4))
fn("aten.pow.Tensor", lambda x, y: (x * 1).pow_(y), floats(4, low=0.1, high=2.0), floats(4))
fn("aten.pow.Scalar", lambda x: (x * 1).pow_(3), floats(4, low=0.1, high=2.0))
fn(
    "aten.float_power.Tensor",
    lambda x, y: (x * 1).float_power_(y),
    floats(4, low=0.1, high=2.0, dtype=torch.float64),
    floats(4),
)
fn("aten.float_power.Scalar", lambda x: (x * 1).float_power_(2.0), floats(4, low=0.1, high=2.0, dtype=torch.float64))
BASES = torch.tensor([1, -1, 2, -2, 5, -3, 1, -1, 0, 0])
for dtype in (torch.int64, torch.int32, torch.int16, torch.int8):
    op(
        "aten.pow.Tensor_Tensor",
        BASES.to(dtype),
        torch.tensor([-1, -1, -1, -2, -2, -3, -2, -2, -1, -2]).to(dtype),
        opsets=(14, 20),
    )
    for base in (2, 3, 1, -1, -2, 0):
        op("aten.pow.Scalar", base, torch.tensor([0, 1, 2, 3, 4, -1, -2]).to(dtype), opsets=(14, 20))
    op("aten.pow.Tensor_Scalar", BASES.to(dtype), 7, opsets=(14, 20))
op("aten.pow.Tensor_Scalar", torch.tensor([3, 7, -5]), 39)
op("aten.pow.Tensor_Tensor", torch.tensor([[3], [7], [-5]]), torch.tensor([39, 64, 0, 1]))
op(
    "aten.pow.Tensor_Tensor",
    torch.tensor([[2], [3]]),
    torch.tensor([40, 41, 63]),
    dynamic={0: {0: "a"}, 1: {0: "b"}},
    alternative=[torch.tensor([[2], [3], [5]]), torch.tensor([1, 2, 3, 4])],
)
op("aten.pow.Scalar", 3, torch.tensor([39, 22, 27]))
fn("aten.pow.Scalar", lambda x: x * 10 ** torch.arange(4), ints(4))
