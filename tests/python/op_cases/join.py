import torch

from op_cases import bools, floats, ints, op

for target in ("aten.cat.default", "aten.concat.default", "aten.concatenate.default"):
    op(target, [floats(2, 3), floats(4, 3)])
    op(target, [floats(2, 3), floats(2, 1)], -1)
    op(target, [floats(2, 3), ints(2, 3)], 0)
    op(target, [floats(2, 3)])
op("aten.cat.default", [floats(0), floats(2, 3)], 0)
op("aten.cat.default", [bools(2), bools(3)])
op("aten.cat.default", [floats(0, 3), floats(2, 3)], 0)
op("aten.cat.default", [torch.complex(floats(2, 3), floats(2, 3))] * 2, -1)
op(
    "aten.cat.default",
    [floats(2, 3), floats(2, 4)],
    1,
    dynamic={0: {0: "b"}, 1: {0: "b"}},
    alternative=[floats(5, 3), floats(5, 4)],
)
op("aten.stack.default", [floats(2, 3), floats(2, 3)])
op("aten.stack.default", [floats(2, 3), floats(2, 3)], -1)
op("aten.stack.default", [floats(), floats()])
op("aten.stack.default", [floats(2), ints(2)], 0)
for target in ("aten.hstack.default", "aten.vstack.default", "aten.dstack.default"):
    op(target, [floats(), floats()])
    op(target, [floats(3), floats(3)])
    op(target, [floats(2, 3), floats(2, 3)])
    op(target, [floats(2, 3, 2), floats(2, 3, 2)])

op("aten.column_stack.default", [floats(3), floats(3, 2)])
op("aten.column_stack.default", [floats(), floats()])
op("aten.column_stack.default", [ints(3), floats(3)])
op(
    "aten.column_stack.default",
    [floats(4), floats(4, 2)],
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[floats(7), floats(7, 2)],
)
op("aten.column_stack.default", [floats(2, 3, 2), floats(2, 1, 2)])
