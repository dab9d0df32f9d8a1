import torch

from op_cases import floats, ints, op

INF, NAN = float("inf"), float("nan")
SPECIAL = torch.tensor([[0.0, -0.0, 1.0], [INF, -INF, NAN], [-1e-40, 3e38, -2.0]])

for name in ["isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal", "signbit"]:
    target = f"aten.{name}.default"
    op(target, SPECIAL)
    op(target, torch.tensor(NAN))
    op(target, floats(0, 2))
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        op(target, (SPECIAL[:1] if name == "signbit" else SPECIAL[:2]).to(dtype))
    for dtype in (torch.int64, torch.int32, torch.uint8):
        op(target, ints(5, dtype=dtype), opsets=(14, 20))
    op(target, torch.tensor([True, False]), opsets=(14, 20))
    op(target, SPECIAL, dynamic={0: {0: "n", 1: "m"}}, alternative=[SPECIAL[:2, :2].contiguous()])
    op(target, ints(3, 4), dynamic={0: {0: "n", 1: "m"}}, alternative=[ints(2, 5)], opsets=(14, 20))

for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    op("aten.nan_to_num.default", SPECIAL[:2].to(dtype))
op("aten.nan_to_num.default", SPECIAL, 3.0)
op("aten.nan_to_num.default", SPECIAL, nan=0.0, posinf=9.0)
op("aten.nan_to_num.default", SPECIAL, nan=0.0, neginf=-9.0)
op("aten.nan_to_num.default", SPECIAL, nan=1.0, posinf=9.0, neginf=-9.0)
op("aten.nan_to_num.default", ints(4))
op("aten.nan_to_num.default", SPECIAL, dynamic={0: {0: "n"}}, alternative=[SPECIAL[:2]])
