import torch
from op_cases import bools, op

for name in ("_is_all_true", "_is_any_true"):
    for values in (bools(2, 3), torch.ones(2, 3) > 0, torch.zeros(4) > 0, bools(0), bools()):
        op(f"aten.{name}.default", values)
    op(f"aten.{name}.default", bools(5), dynamic={0: {0: "n"}}, alternative=[torch.ones(3) > 0])
