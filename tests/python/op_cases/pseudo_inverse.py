import torch

from op_cases import floats, op

DEFICIENT = floats(5, 2) @ floats(2, 4)


def definite(*shape, dtype=torch.float32):
    x = floats(*shape, dtype=dtype)
    return x @ x.mT + torch.eye(shape[-1], dtype=dtype)


for shape in ((4, 3), (3, 4), (4, 4), (2, 3, 5, 3), (0, 3), (3, 0), (0, 3, 3)):
    op("aten.linalg_pinv.atol_rtol_float", floats(*shape))
    op("aten.linalg_pinv.atol_rtol_tensor", floats(*shape))
    op("aten.linalg_pinv.default", floats(*shape), 1e-15)
    op("aten.linalg_pinv.rcond_tensor", floats(*shape), torch.tensor(0.1))
    op("aten.pinverse.default", floats(*shape))
op("aten.linalg_pinv.atol_rtol_float", DEFICIENT)
op("aten.linalg_pinv.atol_rtol_float", torch.zeros(3, 4))
op("aten.linalg_pinv.atol_rtol_float", floats(3, 4, 4), atol=1.0, rtol=0.3)
op("aten.linalg_pinv.atol_rtol_tensor", floats(3, 4, 4), atol=torch.tensor([0.0, 1.0, 2.0]))
op("aten.linalg_pinv.atol_rtol_float", floats(4, 4), hermitian=True)
op("aten.linalg_pinv.default", floats(3, 4, 4), 0.2, True)
op("aten.linalg_pinv.atol_rtol_float", floats(4, 3, dtype=torch.float64), opsets=(14, 20))
op(
    "aten.linalg_pinv.atol_rtol_tensor",
    floats(2, 5, 3),
    dynamic={0: {0: "b", 1: "m", 2: "n"}},
    alternative=[floats(3, 2, 4)],
)

for shape in ((4, 4), (5, 3), (2, 3, 4, 3), (0, 3, 3)):
    op("aten.linalg_polar.default", floats(*shape))
op("aten.linalg_polar.default", floats(4, 3, dtype=torch.float64), opsets=(14, 20))
op("aten.linalg_matrix_sqrth.default", definite(4, 4))
op("aten.linalg_matrix_sqrth.default", definite(2, 3, 5, 5))
op("aten.linalg_matrix_sqrth.default", definite(4, 4) + torch.ones(4, 4).triu(1))
op("aten.linalg_matrix_sqrth.default", definite(3, 3, dtype=torch.float64), opsets=(14, 20))
op("aten.linalg_matrix_sqrth.default", definite(2, 3, 3), dynamic={0: {0: "b"}}, alternative=[definite(4, 3, 3)])
