import torch

from op_cases import floats, ints, op

INF, NAN = float("inf"), float("nan")
X = torch.tensor([-9.0, -3.0, -1.0, -0.2, 0.0, 0.2, 1.0, 3.0, 6.0, INF, -INF, NAN])
for name in ("erfc", "special_erfc", "special_ndtr", "special_log_ndtr", "special_erfcx"):
    op(f"aten.{name}.default", X)
    op(f"aten.{name}.default", floats(2, 3))
    op(f"aten.{name}.default", floats(2, 3, dtype=torch.float64))
    op(f"aten.{name}.default", ints(4, low=-2, high=3))
    if name in ("erfc", "special_erfc"):
        for dtype in (torch.float16, torch.bfloat16):
            op(f"aten.{name}.default", floats(5, dtype=dtype), opsets=(14, 20))
op("aten.erfc.default", torch.tensor([2.0, 4.0, 5.0, 8.0]).pow(1.0)[1:2], rtol=1e-5)
for name in ("erfinv", "special_erfinv"):
    op(f"aten.{name}.default", torch.tensor([-1.0, -0.999999, -0.9, -0.1, 0.0, 1e-6, 0.5, 0.99, 1.0, 1.5, NAN]))
    op(f"aten.{name}.default", floats(2, 3, low=-0.9, high=0.9))
    op(f"aten.{name}.default", floats(5, low=-0.9, high=0.9, dtype=torch.float16), opsets=(14, 20))
