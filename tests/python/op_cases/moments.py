import torch

from op_cases import floats, op

for name in ("var", "std", "var_mean", "std_mean"):
    op(f"aten.{name}.default", floats(2, 3))
    op(f"aten.{name}.default", floats(2, 3), False)
    for dim in ([0], [-1], [0, 2], None):
        op(f"aten.{name}.dim", floats(2, 3, 4), dim)
        op(f"aten.{name}.dim", floats(2, 3, 4), dim, False, True)
        op(f"aten.{name}.correction", floats(2, 3, 4), dim)
    op(f"aten.{name}.correction", floats(2, 5), [1], correction=0)
    op(f"aten.{name}.correction", floats(2, 5), [1], correction=2, keepdim=True)
    op(f"aten.{name}.correction", floats(2, 5), [1], correction=0.5)
    op(f"aten.{name}.correction", floats(2, 1), [1])
    op(f"aten.{name}.dim", floats(2, 5), [0], dynamic={0: {0: "n"}}, alternative=[floats(6, 5)])
    op(f"aten.{name}.dim", floats(2, 5), [0, 1], False, dynamic={0: {0: "n", 1: "m"}}, alternative=[floats(6, 3)])
    op(f"aten.{name}.correction", floats(2, 5), [1], correction=0, dynamic={0: {0: "n"}}, alternative=[floats(6, 5)])
    op(f"aten.{name}.correction", floats(3, 400, low=990, high=1000), [1])
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        op(f"aten.{name}.dim", floats(3, 8, dtype=dtype), [1], opsets=(14, 20))
    op(f"aten.{name}.dim", floats(4), [0])
for name in ("var", "std", "var_mean", "std_mean"):
    op(f"aten.{name}.default", floats(0))
    op(f"aten.{name}.dim", floats(0, 3), [0])
    op(f"aten.{name}.dim", floats(3, 0), [1], False, True)
    op(f"aten.{name}.dim", floats(0, 3), [1])
    op(f"aten.{name}.default", floats())
    for correction in (0, -1):
        op(f"aten.{name}.correction", floats(0, 3), [0], correction=correction)
    for correction in (2, 5, -2):
        op(f"aten.{name}.correction", floats(2, 3), [0], correction=correction)
    op(f"aten.{name}.correction", floats(4, 3), [0], correction=5, dynamic={0: {0: "n"}}, alternative=[floats(7, 3)])
