import torch

from op_cases import floats, op

INF = float("inf")
SINGULAR = torch.tensor([[1.0, 2.0], [2.0, 4.0]])
for order in (None, 2, -2, 1, -1, INF, -INF):
    op("aten.linalg_cond.default", floats(4, 4), order)
    op("aten.linalg_cond.default", floats(2, 3, 5, 5), order)
for order in (None, 2, -2):
    op("aten.linalg_cond.default", floats(4, 3), order)
    op("aten.linalg_cond.default", floats(2, 3, 4), order)
for order in (1, INF):
    op("aten.linalg_cond.default", SINGULAR, order)
for order in ("fro", "nuc"):
    op("aten.linalg_cond.p_str", floats(4, 4), order)
    op("aten.linalg_cond.p_str", floats(2, 3, 5, 5), order)
op("aten.linalg_cond.default", floats(3, 3, dtype=torch.float64), opsets=(14, 20))
op("aten.linalg_cond.default", floats(2, 0, 0))
