import torch

from op_cases import floats, op

for target in ("aten.pdist.default", "aten._pdist_forward.default"):
    for p in (2.0, 1.0, 0.0, 0.5, 3.5, float("inf")):
        op(target, floats(6, 5), p)
    op(target, floats(5, 3), dynamic={0: {0: "rows", 1: "width"}}, alternative=[floats(9, 4)])
    op(target, floats(50, 3))
    op(target, floats(2, 3))
    for shape in ((1, 3), (0, 3), (4, 0)):
        op(target, floats(*shape))
    op(target, floats(4, 0), float("inf"))
    op(target, floats(6, 5, dtype=torch.float64), 3.0)
