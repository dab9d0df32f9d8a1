import torch

from op_cases import floats, ints, op

for name in ("sinc", "special_sinc"):
    op(f"aten.{name}.default", torch.tensor([0.0, 0.5, -1.5, 2.0, float("nan")]))
    op(f"aten.{name}.default", ints(4))
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        op(f"aten.{name}.default", floats(5, dtype=dtype), opsets=(14, 20))
op("aten.special_entr.default", torch.tensor([0.0, 0.5, -1.5, 2.0, float("nan"), float("inf")]))
op("aten.special_entr.default", ints(4, low=0))
op("aten.special_entr.default", floats(5, dtype=torch.bfloat16, low=0, high=1), opsets=(14, 20))
