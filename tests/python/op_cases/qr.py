import torch

from op_cases import floats, op

SHAPES = ((4, 4), (5, 3), (3, 5), (2, 3, 5, 4), (4, 1), (1, 4))
# Columns that are zero below the diagonal, or altogether: no reflection is needed.
TRIANGULAR = torch.tensor([[-1.0, 2.0, 3.0], [0.0, 0.0, 4.0], [0.0, 0.0, -5.0]])


def packed(*shape):
    return torch.geqrf(floats(*shape))


for shape in SHAPES:
    op("aten.geqrf.default", floats(*shape))
    for mode in ("reduced", "complete", "r"):
        op("aten.linalg_qr.default", floats(*shape), mode)
op("aten.geqrf.default", TRIANGULAR)
op("aten.linalg_qr.default", TRIANGULAR)
op("aten.linalg_qr.default", floats(3, 3, dtype=torch.float64), opsets=(14, 20))
for shape in ((0, 0), (3, 0), (0, 3), (0, 3, 3)):
    op("aten.geqrf.default", floats(*shape))
    op("aten.linalg_qr.default", floats(*shape))
    op("aten.linalg_qr.default", floats(*shape), "complete")
op("aten.linalg_qr.default", floats(2, 3, 3), dynamic={0: {0: "b", 1: "n", 2: "n"}}, alternative=[floats(3, 5, 5)])

for target in ("aten.linalg_householder_product.default", "aten.orgqr.default"):
    for shape in ((4, 4), (5, 3), (2, 3, 5, 4)):
        op(target, *packed(*shape))
    op(target, packed(5, 3)[0], packed(5, 3)[1][:2])
    op(target, floats(0, 0), floats(0))
    op(target, floats(3, 0), floats(0))
    op(target, *packed(2, 5, 3), dynamic={0: {0: "b"}, 1: {0: "b"}}, alternative=[*packed(4, 5, 3)])

for transpose in (False, True):
    op("aten.ormqr.default", *packed(5, 3), floats(5, 2), True, transpose)
    op("aten.ormqr.default", *packed(5, 3), floats(2, 5), False, transpose)
    op("aten.ormqr.default", *packed(2, 5, 3), floats(2, 5, 4), True, transpose)
op(
    "aten.ormqr.default",
    *packed(2, 5, 3),
    floats(2, 5, 4),
    dynamic={0: {0: "b"}, 1: {0: "b"}, 2: {0: "b", 2: "k"}},
    alternative=[*packed(3, 5, 3), floats(3, 5, 6)],
)
