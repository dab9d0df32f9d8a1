import torch

from op_cases import bools, floats, ints, op

for name in ("amax", "amin"):
    for dim in ([0], [-1], [0, 2], []):
        op(f"aten.{name}.default", floats(2, 3, 4), dim)
        op(f"aten.{name}.default", floats(2, 3, 4), dim, True)
    op(f"aten.{name}.default", floats())
    op(f"aten.{name}.default", floats(), [0])
    op(f"aten.{name}.default", bools(2, 3), [1])
    op(f"aten.{name}.default", floats(3, 4), [1], dynamic={0: {0: "n"}}, alternative=[floats(5, 4)])
    for dtype in (
        torch.float64,
        torch.float16,
        torch.bfloat16,
        torch.int64,
        torch.int32,
        torch.int16,
        torch.int8,
        torch.uint8,
    ):
        op(f"aten.{name}.default", ints(3, 4).to(dtype), [1], opsets=(14, 18, 20))

for name in ("max", "min"):
    op(f"aten.{name}.default", floats(2, 3))
    op(f"aten.{name}.default", floats())
    op(f"aten.{name}.default", bools(4))
    op(f"aten.{name}.default", ints(2, 3), dynamic={0: {0: "n"}}, alternative=[ints(5, 3)])
    for dim in (0, -1):
        op(f"aten.{name}.dim", floats(2, 3, 4), dim)
        op(f"aten.{name}.dim", floats(2, 3, 4), dim, True)
        op(f"aten.arg{name}.default", floats(2, 3, 4), dim)
        op(f"aten.arg{name}.default", floats(2, 3, 4), dim, True)
    op(f"aten.{name}.dim", floats(), 0)
    op(f"aten.{name}.dim", bools(3, 4), 1)
    op(f"aten.{name}.dim", ints(3, 4, low=0, high=2), 1)
    op(f"aten.{name}.dim", floats(3, 4), 1, dynamic={0: {0: "n"}}, alternative=[floats(5, 4)])
    op(f"aten.arg{name}.default", floats(2, 3))
    op(f"aten.arg{name}.default", floats(2, 3), None, True)
    op(f"aten.arg{name}.default", floats())
    op(f"aten.arg{name}.default", floats(), 0)
    op(f"aten.arg{name}.default", ints(3, 7, low=0, high=2), 1)
    op(f"aten.arg{name}.default", floats(2, 3), dynamic={0: {0: "n"}}, alternative=[floats(5, 3)])
    for dtype in (
        torch.float64,
        torch.float16,
        torch.bfloat16,
        torch.int64,
        torch.int32,
        torch.int16,
        torch.int8,
        torch.uint8,
    ):
        op(f"aten.{name}.dim", ints(3, 4).to(dtype), 1, opsets=(14, 20))
        op(f"aten.{name}.default", ints(3, 4).to(dtype), opsets=(14, 20))
        op(f"aten.arg{name}.default", ints(3, 4).to(dtype), 1, opsets=(14, 20))
op("aten.aminmax.default", floats(2, 3))
op("aten.aminmax.default", floats(2, 3), dim=1)
op("aten.aminmax.default", floats(2, 3), dim=-2, keepdim=True)
op("aten.aminmax.default", ints(4))
op("aten.aminmax.default", floats(2, 3, dtype=torch.bfloat16), dim=1, opsets=(14, 20))
