import torch

from op_cases import floats, ints, op

HALVES = torch.tensor([0.5, 1.5, -0.5, -2.5, 0.49, -0.0, 7.0, float("inf"), float("-inf"), float("nan")])

for name in ["ceil", "fix", "floor", "round", "trunc", "frac"]:
    target = f"aten.{name}.default"
    op(target, floats(2, 3, low=-5, high=5))
    op(target, HALVES)
    op(target, floats(low=-5, high=5))
    op(target, floats(0))
    op(target, floats(4, low=-5, high=5), dynamic={0: {0: "n"}}, alternative=[floats(6, low=-5, high=5)])
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        op(target, floats(9, dtype=dtype, low=-5, high=5), opsets=(14, 20, 24))
    if name != "frac":
        for dtype in (torch.int64, torch.int32, torch.uint8):
            op(target, ints(5, dtype=dtype), opsets=(14, 20))
for decimals in (0, 2, -1):
    op("aten.round.decimals", floats(3, 5, low=-50, high=50), decimals=decimals)
    op("aten.special_round.default", floats(3, 5, low=-50, high=50), decimals=decimals)
op("aten.round.decimals", floats(4, dtype=torch.float64, low=-50, high=50), decimals=3)
