import torch

from op_cases import floats, op

SINGULAR = torch.tensor([[[1.0, 2.0, 0.0], [2.0, 4.0, 1.0], [0.0, 0.0, 3.0]], [[0.0] * 3] * 3])


def factors(*shape, dtype=torch.float32):
    return torch.linalg.lu_factor(floats(*shape, dtype=dtype))


for target in (
    "aten._lu_with_info.default",
    "aten.linalg_lu.default",
    "aten.linalg_lu_factor.default",
    "aten.linalg_lu_factor_ex.default",
):
    op(target, floats(4, 4))
    op(target, floats(2, 3, 5, 3))
    op(target, floats(2, 3, 5))
    op(target, floats(3, 3, dtype=torch.float64), opsets=(14, 20))
    op(target, floats(0, 0))
    op(target, floats(0, 3))
    op(target, floats(3, 0))
    op(target, floats(0, 3, 3))
    op(target, floats(2, 3, 3), dynamic={0: {0: "b", 1: "n", 2: "n"}}, alternative=[floats(3, 5, 5)])
op("aten.linalg_lu.default", SINGULAR)
op("aten.linalg_lu_factor_ex.default", SINGULAR)
op("aten.linalg_lu.default", floats(3, 5), dynamic={0: {0: "m", 1: "n"}}, alternative=[floats(6, 2)])

op("aten.lu_solve.default", floats(4, 2), *factors(4, 4))
op("aten.lu_solve.default", floats(2, 3, 4, 2), *factors(2, 3, 4, 4))
op("aten.lu_solve.default", floats(0, 2), torch.empty(0, 0), torch.empty(0, dtype=torch.int32))
op(
    "aten.lu_solve.default",
    floats(2, 4, 2),
    *factors(2, 4, 4),
    dynamic={0: {0: "b", 2: "k"}, 1: {0: "b"}, 2: {0: "b"}},
    alternative=[floats(3, 4, 5), *factors(3, 4, 4)],
)
for left in (True, False):
    for adjoint in (True, False):
        right = floats(3, 4, 2) if left else floats(3, 2, 4)
        op("aten.linalg_lu_solve.default", *factors(3, 4, 4), right, left=left, adjoint=adjoint)
        op("aten.linalg_lu_solve.default", *factors(4, 4), right, left=left, adjoint=adjoint)
op("aten.linalg_lu_solve.default", *factors(2, 1, 4, 4), floats(3, 4, 2))
op(
    "aten.linalg_lu_solve.default",
    *factors(3, 3, dtype=torch.float64),
    floats(3, 2, dtype=torch.float64),
    opsets=(14, 20),
)

for shape in ((4, 4), (2, 3, 5, 3), (2, 3, 5), (0, 0), (3, 0)):
    op("aten.lu_unpack.default", *factors(*shape))
    op("aten.lu_unpack.default", *factors(*shape), False, True)
    op("aten.lu_unpack.default", *factors(*shape), True, False)
op("aten.lu_unpack.default", *factors(2, 4, 4), dynamic={0: {0: "b"}, 1: {0: "b"}}, alternative=[*factors(3, 4, 4)])
