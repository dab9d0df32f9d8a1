import torch

from op_cases import floats, fn, op

# `info` of a singular matrix: the inverse beside it is undefined.
NEARLY_SINGULAR = torch.tensor([[0.0, 2.0, 1.0], [1.0, 1e-3, 0.0], [3.0, 0.0, 1.0]])


def regular(*shape, dtype=torch.float32):
    """Far from singular, with a diagonal that needs row exchanges."""
    n = shape[-1]
    return floats(*shape, dtype=dtype) + 4 * torch.eye(n, dtype=dtype).roll(1, 0)


for target in ("aten.inverse.default", "aten.linalg_inv.default", "aten.linalg_inv_ex.default"):
    op(target, regular(4, 4))
    op(target, regular(2, 3, 5, 5))
    op(target, regular(3, 3, dtype=torch.float64), opsets=(14, 20))
    op(target, NEARLY_SINGULAR)
    op(target, floats(0, 0))
    op(target, floats(0, 3, 3))
    op(target, regular(2, 3, 3), dynamic={0: {0: "b", 1: "n", 2: "n"}}, alternative=[regular(3, 5, 5)])

op("aten.linalg_tensorinv.default", regular(6, 6).reshape(2, 3, 6), 2)
op("aten.linalg_tensorinv.default", regular(6, 6).reshape(6, 3, 2), 1)

for target in ("aten.linalg_solve.default", "aten.linalg_solve_ex.default"):
    op(target, regular(4, 4), floats(4, 2))
    op(target, regular(4, 4), floats(4))
    op(target, regular(3, 4, 4), floats(3, 4))
    op(target, regular(3, 4, 4), floats(4))
    op(target, regular(2, 1, 4, 4), floats(3, 4, 5))
    op(target, regular(4, 4), floats(2, 4, 5))
    op(target, regular(3, 4, 4), floats(3, 2, 4), left=False)
    op(target, regular(4, 4), floats(2, 5, 4), left=False)
    op(target, regular(3, 3, dtype=torch.float64), floats(3, 2, dtype=torch.float64), opsets=(14, 20))
    op(target, floats(0, 0), floats(0, 3))
    op(target, floats(3, 3), floats(3, 0))
    op(
        target,
        regular(2, 3, 3),
        floats(2, 3, 4),
        dynamic={0: {0: "b", 1: "n", 2: "n"}, 1: {0: "b", 1: "n", 2: "k"}},
        alternative=[regular(3, 5, 5), floats(3, 5, 2)],
    )

op("aten.linalg_tensorsolve.default", regular(6, 6).reshape(2, 3, 6), floats(2, 3))
op("aten.linalg_tensorsolve.default", regular(6, 6).reshape(6, 3, 2).permute(1, 0, 2), floats(6), [0, 2])

for left in (True, False):
    fn(
        "aten._linalg_solve_ex.default",
        lambda a, b, left=left: torch.ops.aten._linalg_solve_ex.default(a, b, left=left)[::3],
        regular(2, 4, 4),
        floats(2, 4, 4),
    )
fn(
    "aten._linalg_solve_ex.default",
    lambda a, b: torch.ops.aten._linalg_solve_ex.default(a, b)[::3],
    floats(0, 0),
    floats(0, 3),
)
