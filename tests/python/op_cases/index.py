import torch

from op_cases import bools, floats, fn, ints, op

for target in ("aten.index.Tensor", "aten._unsafe_index.Tensor"):
    op(target, floats(5, 4), [ints(3, low=0, high=5)])
    op(target, floats(5, 4), [None, ints(2, 3, low=-4, high=4)])
    op(target, floats(5, 4, 3), [ints(3, low=0, high=5), ints(3, low=0, high=4)])
    op(target, floats(2, 5, 4, 3), [None, ints(3, low=0, high=5), ints(3, low=0, high=4)])
    op(target, floats(5, 4, 3), [ints(2, 1, low=0, high=5), None, ints(1, 3, low=-3, high=3)])
    op(target, floats(5, 4), [ints(2, 1, low=0, high=5, dtype=torch.int32), ints(3, low=0, high=4)])
op("aten.index.Tensor", floats(5, 4), [ints(low=0, high=5)])
op("aten.index.Tensor", ints(5, 4), [ints(0, low=0, high=5)])
op("aten.index.Tensor", bools(5, 4), [ints(2, low=0, high=5), ints(2, low=0, high=4)])
op("aten.index.Tensor", torch.complex(floats(5, 4), floats(5, 4)), [ints(3, low=0, high=5)])
op("aten.index.Tensor", floats(5, 4), [bools(5)])
op("aten.index.Tensor", floats(5, 4), [bools(5, 4)])
op("aten.index.Tensor", floats(2, 5, 4), [None, bools(5, 4)])
fn(
    "aten.index.Tensor",
    lambda x, y: x[torch.arange(x.shape[0]), y],
    floats(5, 4),
    ints(5, low=0, high=4),
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[floats(3, 4), ints(3, low=0, high=4)],
)
op("aten.index_select.default", floats(5, 4), 0, ints(3, low=0, high=5))
op("aten.index_select.default", floats(5, 4), -1, ints(low=0, high=4))
op("aten.index_select.default", floats(), 0, ints(1, low=0, high=1))
op("aten.gather.default", floats(5, 4), 0, ints(3, 4, low=0, high=5))
op("aten.gather.default", floats(5, 4), -1, ints(2, 3, low=0, high=4))
op("aten.gather.default", floats(5), 0, ints(low=0, high=5))
op("aten.gather.default", floats(), 0, ints(low=0, high=1))
op("aten.gather.default", ints(2, 3), 1, ints(2, 0, low=0, high=3))
op("aten.take.default", floats(5, 4), ints(2, 3, low=-20, high=20))
op("aten.take_along_dim.default", floats(5, 4), ints(5, 1, low=0, high=4), 1)
op("aten.take_along_dim.default", floats(5, 4), ints(1, 4, low=0, high=5), 0)
op("aten.take_along_dim.default", floats(5, 4), ints(3, low=0, high=20))
