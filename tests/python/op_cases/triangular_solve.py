import torch

from op_cases import floats, op


def matrix(*shape, dtype=torch.float32):
    return floats(*shape, dtype=dtype) + 4 * torch.eye(shape[-1], dtype=dtype)


for upper in (True, False):
    for flag in (True, False):
        op("aten.linalg_solve_triangular.default", matrix(4, 4), floats(4, 2), upper=upper, unitriangular=flag)
        op(
            "aten.linalg_solve_triangular.default",
            matrix(2, 1, 4, 4),
            floats(3, 2, 4),
            upper=upper,
            left=False,
            unitriangular=flag,
        )
        op("aten.triangular_solve.default", floats(4, 2), matrix(4, 4), upper, flag)
        op("aten.triangular_solve.default", floats(2, 4, 2), matrix(4, 4), upper, False, flag)
op(
    "aten.linalg_solve_triangular.default",
    matrix(3, 3, dtype=torch.float64),
    floats(3, 2, dtype=torch.float64),
    upper=True,
    opsets=(14, 20),
)
op("aten.linalg_solve_triangular.default", floats(0, 0), floats(0, 2), upper=True)
op(
    "aten.linalg_solve_triangular.default",
    matrix(2, 3, 3),
    floats(2, 3, 4),
    upper=False,
    dynamic={0: {0: "b", 1: "n", 2: "n"}, 1: {0: "b", 1: "n", 2: "k"}},
    alternative=[matrix(3, 5, 5), floats(3, 5, 2)],
)
op("aten.triangular_solve.default", floats(0, 2), floats(0, 0))
op(
    "aten.triangular_solve.default",
    floats(2, 3, 4),
    matrix(2, 3, 3),
    dynamic={0: {0: "b", 2: "k"}, 1: {0: "b"}},
    alternative=[floats(4, 3, 2), matrix(4, 3, 3)],
)
