import torch

from op_cases import floats, op

for target in ("aten.matrix_power.default", "aten.linalg_matrix_power.default"):
    for n in (0, 1, 2, 3, 10, -1, -3):
        op(target, floats(3, 3), n)
        op(target, floats(2, 4, 4), n)
    op(target, floats(0, 0), 2)
    op(target, floats(3, 3, dtype=torch.float64), 5, opsets=(14, 20))
    op(target, floats(2, 3, 3), 3, dynamic={0: {0: "b", 1: "n", 2: "n"}}, alternative=[floats(3, 5, 5)])

for target in ("aten.matrix_exp.default", "aten.linalg_matrix_exp.default"):
    op(target, floats(3, 3))
    op(target, floats(2, 4, 4) * torch.tensor([1e-3, 8.0])[:, None, None])
    op(target, torch.zeros(3, 3))
    op(target, torch.tensor([[0.0, 1.0], [0.0, 0.0]]))
    op(target, floats(1, 1))
    op(target, floats(0, 0))
    op(target, floats(3, 3, dtype=torch.float64), opsets=(14, 20))
    op(target, floats(2, 3, 3), dynamic={0: {0: "b", 1: "n", 2: "n"}}, alternative=[floats(3, 5, 5)])
