import torch

from op_cases import bools, ints, op

for name in ("logical_and", "logical_or", "logical_xor"):
    op(f"aten.{name}.default", bools(3, 4), bools(4))
    op(f"aten.{name}.default", ints(3, 4, low=-1, high=2), ints(4, low=0, high=2))
    op(f"aten.{name}.default", torch.tensor([0.0, 1.5, float("nan")]), bools(3))
    op(f"aten.{name}.default", ints(4, low=0, high=2).to(torch.bfloat16), bools(4), opsets=(14, 20))
    op(f"aten.{name}.default", bools(3, 4), bools(4), dynamic={0: {0: "n"}}, alternative=[bools(2, 4), bools(4)])
op("aten.logical_not.default", bools(3, 4))
op("aten.logical_not.default", ints(5, low=0, high=2))
op("aten.logical_not.default", torch.tensor([0.0, -0.0, 1.5, float("nan")]))
op("aten.logical_not.default", ints(4, low=0, high=2).to(torch.bfloat16), opsets=(14, 20))
op("aten.logical_not.default", bools(0))
