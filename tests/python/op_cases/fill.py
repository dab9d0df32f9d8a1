import torch

from op_cases import bools, floats, fn, ints, op

TYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool)

for name in ("zeros", "ones"):
    op(f"aten.{name}.default", [2, 3])
    op(f"aten.{name}.default", [])
    op(f"aten.{name}.default", [0, 3])
    op(f"aten.{name}.default", [64, 65])
    op(f"aten.{name}_like.default", floats(2, 3))
    op(f"aten.{name}_like.default", floats())
    op(f"aten.{name}_like.default", ints(2, 3), dynamic={0: {0: "n", 1: "m"}}, alternative=[ints(4, 2)])
    op(f"aten.{name}_like.default", ints(2, 3), dynamic={0: {0: "n"}}, alternative=[ints(4, 3)])
    op(f"aten.new_{name}.default", floats(2, 3), [4])
    op(f"aten.new_{name}.default", floats(2, 3), [4], dtype=torch.bool)
    for dtype in TYPES:
        op(f"aten.{name}.default", [5, 2], dtype=dtype, opsets=(14, 20))
        op(f"aten.{name}.default", [50, 200], dtype=dtype, opsets=(14, 20))
        op(f"aten.{name}_like.default", floats(3), dtype=dtype, opsets=(14, 20))
        op(f"aten.new_{name}.default", floats(3), [2, 2], dtype=dtype, opsets=(14, 20))
    fn(
        f"aten.{name}.default",
        lambda x, f=getattr(torch, name): f(x.shape[0], 2) + x[:, :1],
        floats(3, 4),
        dynamic={0: {0: "n"}},
        alternative=[floats(5, 4)],
    )
    fn(
        f"aten.new_{name}.default",
        lambda x, f=name: getattr(x, f"new_{f}")(x.shape[0], x.shape[1]) + x,
        floats(3, 4),
        dynamic={0: {0: "n", 1: "m"}},
        alternative=[floats(5, 2)],
    )
fn("aten.ones.default", lambda x: torch.view_as_real(torch.ones(2, 3, dtype=torch.complex64)) + x, floats(2))
fn("aten.zeros.default", lambda x: torch.view_as_real(torch.zeros(2, 3, dtype=torch.complex64)) + x, floats(2))

for value in (2.5, -1, True, float("-inf")):
    op("aten.full.default", [2, 3], value)
    op("aten.full_like.default", floats(2, 3), value)
    op("aten.new_full.default", floats(2, 3), [2], value)
    op("aten.fill.Scalar", floats(2, 3), value)
for dtype in TYPES:
    op("aten.full.default", [2, 3], 3, dtype=dtype, opsets=(14, 20))
    op("aten.full.default", [70, 80], 3, dtype=dtype, opsets=(14, 20))
    op("aten.full_like.default", floats(2, 3), 3, dtype=dtype, opsets=(14, 20))
    op("aten.fill.Scalar", ints(2, 3).to(dtype), 1, opsets=(14, 20))
    op("aten.fill.Tensor", ints(2, 3).to(dtype), torch.tensor(1.5), opsets=(14, 20))
op("aten.full_like.default", floats(2, 3), 7, dynamic={0: {0: "n", 1: "m"}}, alternative=[floats(4, 2)])
fn(
    "aten.full.default",
    lambda x: torch.full((2, 3), x.shape[0]),
    floats(3),
    dynamic={0: {0: "n"}},
    alternative=[floats(5)],
)
fn("aten.zero.default", lambda x: (x + 1).zero_() + x, floats(3))
op("aten.zero.default", floats(2, 3))
op("aten.zero.default", ints(2, 3))
for value in (2, 2.5, False):
    op("aten.scalar_tensor.default", value)
    op("aten.scalar_tensor.default", value, dtype=torch.float16)
op("aten.scalar_tensor.default", 3, dtype=torch.bool)
fn(
    "aten.scalar_tensor.default",
    lambda x: torch.scalar_tensor(x.shape[0], dtype=torch.int64) + x,
    ints(3),
    dynamic={0: {0: "n"}},
    alternative=[ints(5)],
)

op("aten.empty.memory_format", [2, 3], compare="shape")
op("aten.empty_like.default", floats(2, 3), compare="shape")
op("aten.empty_like.default", ints(2, 3), dtype=torch.bool, compare="shape")
op("aten.empty_strided.default", [2, 3], [3, 1], compare="shape")
op("aten.empty_permuted.default", [2, 3], [0, 1], compare="shape")
op("aten.new_empty.default", floats(2, 3), [4, 1], compare="shape")
op("aten.new_empty_strided.default", floats(2, 3), [4, 2], [2, 1], compare="shape")

op("aten.fill.Scalar", floats(2, 3), 2)
op("aten.fill.Scalar", ints(4), 2.7)
op("aten.fill.Scalar", bools(4), 1)
op("aten.fill.Scalar", floats(), -1.5)
op("aten.fill.Scalar", floats(0, 2), 1)
op("aten.fill.Scalar", floats(2, 3, dtype=torch.bfloat16), float("-inf"))
op("aten.fill.Scalar", floats(2, 3), 5, dynamic={0: {0: "n"}}, alternative=[floats(4, 3)])
op("aten.fill.Tensor", floats(2, 3), floats())
op("aten.fill.Tensor", ints(2, 3), floats())
fn(
    "aten.fill.Tensor",
    lambda x: torch.fill(x, x[0, 1]),
    floats(2, 3),
    dynamic={0: {0: "n"}},
    alternative=[floats(4, 3)],
)
