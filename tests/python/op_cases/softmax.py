import torch

from op_cases import floats, ints, op

for target in ("aten.softmax.int", "aten.log_softmax.int", "aten._safe_softmax.default"):
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        op(target, floats(2, 3, 4, dtype=dtype), -1)
    op(target, floats(2, 3, 4), 1)
    op(target, floats(2, 3, 4), 0, dynamic={0: {0: "b", 1: "s"}}, alternative=[floats(3, 5, 4)])
    op(target, floats(2, 3, 4, dtype=torch.float16), -1, torch.float32)
    op(target, floats(2, 0), 0)
    op(target, floats(0, 2), -1)
    op(target, ints(2, 3), 1, torch.float32)
for target in ("aten.softmax.int", "aten.log_softmax.int"):
    op(target, floats(), -1)
    op(target, torch.tensor([[1.0, -float("inf")], [float("inf"), 2.0], [-float("inf"), -float("inf")]]), 1)
for target in ("aten._softmax.default", "aten._log_softmax.default"):
    op(target, floats(2, 3, 4), -1, False)
    op(target, floats(2, 3, 4), 1, False)
masked = floats(2, 3, 4)
masked[0, 1] = -float("inf")
masked[1, 2, 3] = -float("inf")
op("aten._safe_softmax.default", masked, -1)
op("aten._safe_softmax.default", masked, 1)
