import torch

from op_cases import floats, fn, op

SINGULAR = torch.tensor([[1.0, 2.0], [2.0, 4.0]])
for target in (
    "aten.det.default",
    "aten.linalg_det.default",
    "aten.slogdet.default",
    "aten.linalg_slogdet.default",
    "aten.logdet.default",
):
    op(target, floats(4, 4))
    op(target, floats(2, 3, 5, 5))
    op(target, floats(3, 3, dtype=torch.float64), opsets=(14, 20))
    op(target, floats(1, 1))
    op(target, floats(0, 0))
    op(target, floats(2, 0, 0))
    op(target, floats(0, 3, 3))
    op(target, SINGULAR)
    op(target, floats(2, 3, 3), dynamic={0: {0: "b", 1: "n", 2: "n"}}, alternative=[floats(3, 5, 5)])
fn("aten._linalg_det.default", lambda x: torch.ops.aten._linalg_det.default(x)[0], floats(2, 3, 3))
fn("aten._linalg_det.default", lambda x: torch.ops.aten._linalg_det.default(x)[0], floats(2, 0, 0))
fn("aten._linalg_slogdet.default", lambda x: torch.ops.aten._linalg_slogdet.default(x)[:2], floats(2, 3, 3))
fn("aten._linalg_slogdet.default", lambda x: torch.ops.aten._linalg_slogdet.default(x)[:2], floats(0, 3, 3))
