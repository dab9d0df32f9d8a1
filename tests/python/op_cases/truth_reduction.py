import torch

from op_cases import bools, ints, op

for name in ("any", "all"):
    for x in (
        bools(2, 3),
        torch.zeros(2, 3, dtype=torch.bool),
        torch.ones(2, 3),
        ints(2, 3, low=0, high=2),
        ints(2, 3, low=0, high=2, dtype=torch.uint8),
        torch.tensor([float("nan"), 0.0]),
        bools(),
        torch.zeros(0, 3),
        ints(4, low=0, high=2).to(torch.bfloat16),
    ):
        op(f"aten.{name}.default", x)
    for dim in (0, -1):
        op(f"aten.{name}.dim", bools(2, 3, 4), dim)
        op(f"aten.{name}.dim", bools(2, 3, 4), dim, True)
        op(f"aten.{name}.dim", torch.zeros(0, 3), dim)
    op(f"aten.{name}.dim", ints(2, 3, low=0, high=2, dtype=torch.uint8), 1)
    op(f"aten.{name}.dim", bools(3, 4), 1, dynamic={0: {0: "n"}}, alternative=[bools(5, 4)])
    op(f"aten.{name}.dim", bools(3, 4), 0, dynamic={0: {0: "n"}}, alternative=[bools(5, 4)])
    op(f"aten.{name}.dim", bools(), 0)
    op(f"aten.{name}.dims", bools(2, 3, 4), [0, 2])
    op(f"aten.{name}.dims", bools(2, 3, 4), [-1], True)
    op(f"aten.{name}.dims", bools(2, 3, 4))
    for x in (bools(2, 3), torch.ones(2, 3) > 0, torch.zeros(4) > 0, bools(0), bools()):
        op(f"aten._is_{name}_true.default", x)
    op(f"aten._is_{name}_true.default", bools(5), dynamic={0: {0: "n"}}, alternative=[torch.ones(3) > 0])
