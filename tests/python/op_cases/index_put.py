import torch
from op_cases import bools, floats, fn, ints, op

distinct = torch.tensor([3, 0, 4])
for target in ("aten.index_put.default", "aten._unsafe_index_put.default"):
    op(target, floats(5, 4), [distinct], floats(3, 4))
    op(target, floats(5, 4), [distinct], floats(1))
    op(target, floats(5, 4), [None, torch.tensor([2, 0])], floats(5, 2))
    op(target, floats(5, 4), [distinct, torch.tensor([1, 1, 2])], floats(3))
    op(target, floats(2, 5, 4), [None, distinct, torch.tensor([1, 1, 2])], floats(2, 3))
    op(target, floats(5, 4, 3), [distinct, None, torch.tensor([1, 0, 2])], floats(3, 4))
op("aten.index_put.default", ints(5, 4), [distinct], ints(4))
op("aten.index_put.default", floats(5, 4), [distinct], floats(3, 4), True, since=16)
op("aten.index_put.default", floats(5), [torch.tensor([1, 1, 2])], floats(3), True, since=16)
op("aten.index_put.default", floats(5, 4), [bools(5, 4)], torch.tensor(2.0))
op("aten.index_put.default", floats(5, 4), [bools(5)], floats(4))
op("aten.index_put.default", floats(5, 4), [bools(5)], floats(1, 4))
op("aten.index_put.default", bools(5, 4), [distinct], torch.tensor(True))
fn("aten.index_put.default", lambda x, y: torch.index_put(x, (torch.arange(x.shape[0]), y), torch.zeros(())),
   floats(5, 4), ints(5, low=0, high=4), dynamic={0: {0: "n"}, 1: {0: "n"}},
   alternative=[floats(3, 4), ints(3, low=0, high=4)])
op("aten.index_add.default", floats(5, 4), 0, torch.tensor([1, 1, 2]), floats(3, 4), since=16)
op("aten.index_add.default", floats(5, 4), -1, torch.tensor([1, 1, 2]), floats(5, 3), alpha=2, since=16)
op("aten.index_copy.default", floats(5, 4), 0, distinct, floats(3, 4))
op("aten.index_copy.default", floats(4, 5), 1, distinct, floats(4, 3))
op("aten.index_fill.int_Scalar", floats(5, 4), 0, distinct, 7)
op("aten.index_fill.int_Scalar", ints(4, 5), -1, distinct, 7)
op("aten.index_fill.int_Tensor", floats(5, 4), 0, distinct, torch.tensor(1.5))
