import torch

from op_cases import bools, floats, fn, ints, op

TIES = ints(3, 8, low=0, high=3)
DISTINCT = torch.tensor([[12, 3, 33, 0, 21, 9], [6, 30, 15, 27, 24, 18]])
for descending in (False, True):
    for dim in (0, -1):
        op("aten.sort.default", floats(3, 5), dim, descending)
        op("aten.sort.stable", TIES, stable=True, dim=dim, descending=descending)
        op("aten.argsort.stable", TIES, stable=True, dim=dim, descending=descending)
        op("aten.argsort.default", floats(3, 5), dim, descending)
    op("aten.sort.default", bools(7), 0, descending, compare="shape")
    op("aten.sort.default", floats(), 0, descending)
    op("aten.argsort.default", floats(), 0, descending)
    op("aten.sort.default", floats(0, 3), 0, descending)
    op("aten.sort.default", floats(3, 5), 1, descending, dynamic={0: {0: "n", 1: "m"}}, alternative=[floats(2, 7)])
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int16, torch.int8, torch.uint8):
        op("aten.sort.stable", TIES.to(dtype), stable=True, dim=-1, descending=descending, opsets=(14, 20))
op("aten.msort.default", floats(4, 3))
op("aten.msort.default", ints(5))
for largest in (True, False):
    op("aten.topk.default", floats(3, 6), 2, -1, largest)
    op("aten.topk.default", floats(3, 6), 3, 0, largest)
    op("aten.topk.default", floats(3, 6), 0, 1, largest)
    op("aten.topk.default", floats(3, 6), 6, 1, largest)
    op("aten.topk.default", floats(3, 6), 2, 1, largest, dynamic={0: {0: "n"}}, alternative=[floats(5, 6)])
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.uint8):
        op("aten.topk.default", DISTINCT.to(dtype), 3, -1, largest, opsets=(14, 20))
op("aten.topk.default", floats(), 1)
fn(
    "aten.topk.default",
    lambda x: torch.topk(x, x.shape[0]),
    floats(4, 4),
    dynamic={0: {0: "n"}},
    alternative=[floats(3, 4)],
)
fn("aten.topk.default", lambda x: torch.topk(x, 3, sorted=False)[0].sum(-1), floats(4, 6))
for k in (1, 3, 5):
    op("aten.kthvalue.default", floats(3, 5), k)
    op("aten.kthvalue.default", floats(5, 3), k, 0, True)
op("aten.kthvalue.default", floats(), 1)
op("aten.kthvalue.default", floats(3, 5), 2, dynamic={0: {0: "n"}}, alternative=[floats(4, 5)])
op("aten.kthvalue.default", floats(3, 5, dtype=torch.bfloat16), 2, opsets=(14, 20))
