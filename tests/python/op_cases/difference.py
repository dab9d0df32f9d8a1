import torch

from op_cases import bools, floats, ints, op

op("aten.diff.default", floats(3, 5))
op("aten.diff.default", floats(3, 5), 2)
op("aten.diff.default", floats(3, 5), 1, 0)
op("aten.diff.default", ints(6))
op("aten.diff.default", bools(6))
op("aten.diff.default", floats(3, 5), 1, -1, floats(3, 1), floats(3, 2))
op("aten.diff.default", floats(3, 5), 0)
op("aten.diff.default", floats(1))
op("aten.diff.default", floats(3, 5, dtype=torch.bfloat16), opsets=(14, 20))
op("aten.diff.default", floats(3, 5), dynamic={0: {1: "n"}}, alternative=[floats(3, 8)])
for name in ("trapz", "trapezoid", "cumulative_trapezoid"):
    op(f"aten.{name}.dx", floats(3, 5))
    op(f"aten.{name}.dx", floats(3, 5), dx=0.5 if name == "trapz" else 2, dim=0)
    op(f"aten.{name}.x", floats(3, 5), floats(5))
    op(f"aten.{name}.x", floats(3, 5), floats(3), dim=0)
    op(f"aten.{name}.x", floats(3, 5), floats(3, 5))
    op(f"aten.{name}.dx", floats(3, 5), dynamic={0: {0: "n"}}, alternative=[floats(2, 5)])
