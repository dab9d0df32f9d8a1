import torch

from op_cases import floats, op

SHAPES = ((4, 4), (5, 3), (3, 5), (2, 3, 4, 3), (1, 1), (4, 1), (1, 4), (24, 20))
DEFICIENT = floats(5, 2) @ floats(2, 4)

for shape in SHAPES:
    op("aten.linalg_svdvals.default", floats(*shape))
op("aten.linalg_svdvals.default", torch.zeros(3, 3))
op("aten.linalg_svdvals.default", torch.eye(4))
op("aten.linalg_svdvals.default", torch.ones(4, 3))
op("aten.linalg_svdvals.default", DEFICIENT)
op("aten.linalg_svdvals.default", floats(4, 3, dtype=torch.float64), opsets=(14, 20))
for shape in ((0, 0), (0, 3), (2, 3, 0), (0, 3, 3)):
    op("aten.linalg_svdvals.default", floats(*shape))
op("aten.linalg_svdvals.default", floats(2, 3, 3), dynamic={0: {0: "b", 1: "m", 2: "n"}}, alternative=[floats(3, 2, 5)])

for side in ("L", "U"):
    op("aten.linalg_eigvalsh.default", floats(4, 4), side)
    op("aten.linalg_eigvalsh.default", floats(2, 3, 5, 5), side)
op("aten.linalg_eigvalsh.default", torch.diag(torch.tensor([2.0, -2.0, 0.0, 2.0])))
op("aten.linalg_eigvalsh.default", torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
op("aten.linalg_eigvalsh.default", torch.zeros(3, 3))
op("aten.linalg_eigvalsh.default", floats(0, 0))
op("aten.linalg_eigvalsh.default", floats(3, 3, dtype=torch.float64), opsets=(14, 20))
op(
    "aten.linalg_eigvalsh.default",
    floats(2, 3, 3),
    dynamic={0: {0: "b", 1: "n", 2: "n"}},
    alternative=[floats(3, 5, 5)],
)

for x in (floats(4, 3), DEFICIENT, torch.zeros(3, 3), floats(2, 3, 5), floats(0, 3), floats(0, 3, 3)):
    op("aten.linalg_matrix_rank.atol_rtol_float", x)
    op("aten.linalg_matrix_rank.atol_rtol_tensor", x)
    op("aten.linalg_matrix_rank.default", x, 0.5)
    op("aten.linalg_matrix_rank.tol_tensor", x, torch.tensor(0.5))
op("aten.linalg_matrix_rank.atol_rtol_float", floats(3, 4, 4), atol=1.0)
op("aten.linalg_matrix_rank.atol_rtol_float", floats(3, 4, 4), rtol=0.5)
op("aten.linalg_matrix_rank.atol_rtol_float", floats(3, 4, 4), atol=1.0, rtol=0.5)
op("aten.linalg_matrix_rank.atol_rtol_tensor", floats(3, 4, 4), atol=torch.tensor([0.0, 1.0, 2.0]))
op("aten.linalg_matrix_rank.atol_rtol_tensor", floats(4, 4), atol=torch.tensor([0.0, 1.0, 2.0]), rtol=torch.tensor(0.1))
op("aten.linalg_matrix_rank.default", floats(4, 4), 1.0, True)
op("aten.linalg_matrix_rank.tol_tensor", floats(3, 4, 4), torch.tensor([0.0, 1.0, 2.0]), True)
op(
    "aten.linalg_matrix_rank.atol_rtol_tensor",
    floats(2, 3, 3),
    dynamic={0: {0: "b", 1: "m", 2: "n"}},
    alternative=[floats(3, 2, 5)],
)
