import torch

from op_cases import floats, ints, op

INF, NAN = float("inf"), float("nan")
SMALL = torch.tensor([1e-7, -3e-6, 1e-4, 0.0, 0.3, 5.0])

for name in ["exp2", "expm1", "special_exp2", "special_expm1", "deg2rad", "rad2deg"]:
    target = f"aten.{name}.default"
    op(target, floats(2, 3))
    op(target, floats(5), dynamic={0: {0: "n"}}, alternative=[floats(7)])
    op(target, torch.tensor([0.0, INF, -INF, NAN, 100.0, -100.0]))
    op(target, ints(4))
    op(target, floats(dtype=torch.float64))
    for dtype in (torch.float16, torch.bfloat16):
        op(target, floats(6, dtype=dtype), opsets=(14, 20))
op("aten.expm1.default", SMALL, rtol=1e-6)
for name in ["log10", "log1p", "log2", "special_log1p"]:
    target = f"aten.{name}.default"
    op(target, floats(2, 3, low=0.01, high=9.0))
    op(target, floats(5, low=0.01, high=9.0), dynamic={0: {0: "n"}}, alternative=[floats(7, low=0.01, high=9.0)])
    op(target, torch.tensor([0.0, INF, -INF, NAN, -1.0, 1e-30]))
    op(target, ints(4, low=0))
    op(target, floats(low=0.1, high=2.0, dtype=torch.float64))
    for dtype in (torch.float16, torch.bfloat16):
        op(target, floats(6, dtype=dtype, low=0.1, high=9.0), opsets=(14, 20))
op("aten.log1p.default", SMALL, rtol=1e-6)
op("aten.log2.default", torch.tensor([1.0, 2.0, 8.0, 1024.0, 0.125, 2.0**29]), rtol=1e-9)
op("aten.log10.default", torch.tensor([1.0, 10.0, 1000.0, 1e6]), rtol=1e-9)
for name in ("logit", "special_logit"):
    op(f"aten.{name}.default", floats(3, 4, low=0.0, high=1.0))
    op(f"aten.{name}.default", torch.tensor([0.0, 1.0, 0.5, -0.1, 1.2, NAN]))
    op(f"aten.{name}.default", torch.tensor([0.0, 1.0, 0.5, -0.1, 1.2, NAN]), 1e-3)
    op(f"aten.{name}.default", floats(5, low=0.1, high=0.9, dtype=torch.float16), eps=1e-2)
    op(f"aten.{name}.default", floats(5, low=0.1, high=0.9, dtype=torch.bfloat16), opsets=(14, 20))
