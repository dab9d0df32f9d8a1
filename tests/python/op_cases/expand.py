import torch

from op_cases import bools, floats, fn, ints, op

for target in ("aten.expand.default", "aten.expand_copy.default"):
    op(target, floats(1, 3), [4, 3])
    op(target, floats(3), [2, 4, -1])
    op(target, floats(2, 1), [-1, 5])
    op(target, floats(), [2])
op("aten.expand.default", torch.complex(floats(1, 3), floats(1, 3)), [4, 2, 3])
fn(
    "aten.expand.default",
    lambda x, y: x.expand(y.shape[0], -1, y.shape[1]),
    floats(1, 3, 1),
    floats(2, 5),
    dynamic={1: {0: "b", 1: "s"}},
    alternative=[floats(1, 3, 1), floats(4, 6)],
)
op("aten.expand_as.default", floats(1, 3), floats(4, 3))
op("aten.broadcast_to.default", ints(3), [2, 3])
for target in ("aten.repeat.default", "aten.tile.default"):
    op(target, floats(2, 3), [2, 3])
    op(target, floats(2, 3), [2, 1, 1])
    op(target, floats(1, 3), [4, 1])
    op(target, floats(2, 3), [0, 1])
    op(target, floats(2, 3), [1, 1])
op("aten.tile.default", floats(2, 3), [2])
op("aten.repeat.default", torch.complex(floats(2, 3), floats(2, 3)), [2, 1])
fn(
    "aten.repeat.default",
    lambda x: x.repeat(x.shape[0], 1),
    floats(2, 3),
    dynamic={0: {0: "b"}},
    alternative=[floats(4, 3)],
)
op("aten.repeat_interleave.self_int", floats(2, 3), 2)
op("aten.repeat_interleave.self_int", floats(2, 3), 3, 0)
op("aten.repeat_interleave.self_int", floats(2, 3, 4), 2, -2, dynamic={0: {0: "b"}}, alternative=[floats(3, 3, 4)])
op("aten.repeat_interleave.self_int", floats(), 3)

op("aten.broadcast_tensors.default", [floats(3, 1), ints(1, 4)])
op("aten.broadcast_tensors.default", [floats(2, 3), floats(), bools(3)])
op(
    "aten.broadcast_tensors.default",
    [floats(4, 1), floats(1, 3)],
    dynamic={0: {0: "n"}},
    alternative=[floats(6, 1), floats(1, 3)],
)
