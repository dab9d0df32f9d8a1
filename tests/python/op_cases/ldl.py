import torch

from op_cases import floats, op

# A diagonal of zeros needs blocks of two rows.
HOLLOW = torch.tensor([[0.0, 1.0, 2.0, 3.0], [1.0, 0.0, 4.0, 5.0], [2.0, 4.0, 0.0, 6.0], [3.0, 5.0, 6.0, 0.0]])
SINGULAR = torch.tensor([[2.0, 1.0, 0.0], [1.0, 0.5, 0.0], [0.0, 0.0, 0.0]])


def symmetric(*shape, dtype=torch.float32):
    x = floats(*shape, dtype=dtype)
    return x + x.mT


def factors(*shape):
    return torch.linalg.ldl_factor(symmetric(*shape))


for target in ("aten.linalg_ldl_factor.default", "aten.linalg_ldl_factor_ex.default"):
    for shape in ((4, 4), (6, 6), (7, 7), (2, 3, 5, 5), (12, 4, 4), (1, 1), (2, 2)):
        op(target, symmetric(*shape))
    op(target, floats(4, 4))
    op(target, symmetric(3, 3), hermitian=True)
    op(target, HOLLOW)
    op(target, symmetric(6, 6, dtype=torch.float64), opsets=(14, 20))
    op(target, floats(0, 0))
    op(target, floats(0, 3, 3))
    op(target, symmetric(2, 3, 3), dynamic={0: {0: "b", 1: "n", 2: "n"}}, alternative=[symmetric(3, 5, 5)])
op("aten.linalg_ldl_factor_ex.default", SINGULAR)
op("aten.linalg_ldl_factor_ex.default", torch.zeros(2, 2))

for shape in ((4, 4), (6, 6), (7, 7), (2, 3, 5, 5), (12, 4, 4), (1, 1)):
    op("aten.linalg_ldl_solve.default", *factors(*shape), floats(*shape[:-1], 3))
op("aten.linalg_ldl_solve.default", *torch.linalg.ldl_factor(HOLLOW), floats(4, 2))
op("aten.linalg_ldl_solve.default", *factors(12, 4, 4), floats(4, 2))
op("aten.linalg_ldl_solve.default", *factors(4, 4), floats(3, 4, 2))
op("aten.linalg_ldl_solve.default", torch.zeros(0, 0), torch.zeros(0, dtype=torch.int32), floats(0, 2))
op(
    "aten.linalg_ldl_solve.default",
    *factors(2, 4, 4),
    floats(2, 4, 3),
    dynamic={0: {0: "b"}, 1: {0: "b"}, 2: {0: "b", 2: "k"}},
    alternative=[*factors(3, 4, 4), floats(3, 4, 5)],
)
