from op_cases import bools, floats, ints, op

for target in ("aten.unfold.default", "aten.unfold_copy.default"):
    op(target, floats(7, 3), 0, 3, 2)
    op(target, floats(2, 7), -1, 2, 1, dynamic={0: {0: "b"}}, alternative=[floats(3, 7)])
for target in ("aten.diagonal.default", "aten.diagonal_copy.default"):
    op(target, floats(3, 4))
    op(target, floats(3, 4), 1)
    op(target, floats(2, 3, 4), -1, 1, 2)
    op(target, floats(3, 4, 3), 0, 0, -1)
op("aten.linalg_diagonal.default", floats(2, 3, 4))
op("aten.diag.default", floats(3))
op("aten.diag.default", floats(3), -1)
op("aten.diag.default", floats(3, 4), 1)
op("aten.diag_embed.default", floats(2, 3))
op("aten.diag_embed.default", floats(2, 3), 1)
op("aten.diag_embed.default", floats(2, 3), -2, 0, 2)
op("aten.diag_embed.default", ints(3))
op("aten.trace.default", floats(3, 4))
op("aten.trace.default", ints(3, 3))
for target in ("aten.as_strided.default", "aten.as_strided_copy.default"):
    op(target, floats(4, 5), [3, 2], [5, 2], 1)
    op(target, floats(6), [4, 3], [1, 1])

op("aten.diagflat.default", floats(3))
op("aten.diagflat.default", ints(2, 3), 1)
op("aten.diagflat.default", floats(), -2)
op("aten.diagflat.default", bools(2))
