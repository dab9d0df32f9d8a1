import torch

from op_cases import floats, ints, op

INF = float("inf")
for name in ("logsumexp", "special_logsumexp"):
    for dim in ([0], [-1], [0, 2]):
        op(f"aten.{name}.default", floats(2, 3, 4), dim)
        op(f"aten.{name}.default", floats(2, 3, 4), dim, True)
    op(f"aten.{name}.default", torch.tensor([[1000.0, 1001.0], [-INF, -INF], [-INF, 2.0], [INF, 1.0]]), [1])
    op(f"aten.{name}.default", floats(3, 4), [1], dynamic={0: {0: "n"}}, alternative=[floats(5, 4)])
    op(f"aten.{name}.default", ints(3, 4), [1])
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        op(f"aten.{name}.default", floats(3, 8, dtype=dtype), [1], opsets=(14, 18, 20))
