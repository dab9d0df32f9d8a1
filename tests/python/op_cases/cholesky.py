import torch

from op_cases import floats, op


def definite(*shape, dtype=torch.float32):
    x = floats(*shape, dtype=dtype)
    return x @ x.mT + torch.eye(shape[-1], dtype=dtype)


def factor(*shape, upper=False):
    return torch.linalg.cholesky(definite(*shape), upper=upper)


for target in ("aten.linalg_cholesky.default", "aten.linalg_cholesky_ex.default"):
    op(target, definite(4, 4))
    op(target, definite(4, 4) + torch.ones(4, 4).triu(1))
    op(target, definite(2, 3, 5, 5), upper=True)
    op(target, definite(4, 4) + torch.ones(4, 4).tril(-1), upper=True)
    op(target, definite(3, 3, dtype=torch.float64), opsets=(14, 20))
    op(target, floats(0, 0))
    op(target, floats(0, 3, 3))
    op(target, definite(2, 3, 3), dynamic={0: {0: "b", 1: "n", 2: "n"}}, alternative=[definite(3, 5, 5)])

op("aten.cholesky_inverse.default", factor(4, 4))
op("aten.cholesky_inverse.default", factor(2, 3, 3, upper=True), True)
op("aten.cholesky_inverse.default", factor(3, 3) + torch.ones(3, 3).triu(1))
op("aten.cholesky_inverse.default", floats(0, 0))
op(
    "aten.cholesky_inverse.default",
    factor(2, 3, 3),
    dynamic={0: {0: "b", 1: "n", 2: "n"}},
    alternative=[factor(3, 5, 5)],
)
op("aten.cholesky_solve.default", floats(4, 2), factor(4, 4))
op("aten.cholesky_solve.default", floats(4, 2), factor(4, 4, upper=True), True)
op("aten.cholesky_solve.default", floats(3, 4, 2), factor(2, 1, 4, 4))
op("aten.cholesky_solve.default", floats(2, 3, 4, 2), factor(4, 4))
op("aten.cholesky_solve.default", floats(0, 2), floats(0, 0))
op(
    "aten.cholesky_solve.default",
    floats(2, 3, 4),
    factor(2, 3, 3),
    dynamic={0: {0: "b", 1: "n", 2: "k"}, 1: {0: "b", 1: "n", 2: "n"}},
    alternative=[floats(3, 5, 2), factor(3, 5, 5)],
)
