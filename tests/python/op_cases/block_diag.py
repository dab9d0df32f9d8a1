from op_cases import bools, floats, ints, op

op("aten.block_diag.default", [floats(2, 3), floats(1, 2)])
op("aten.block_diag.default", [floats(3), ints(2, 2), floats()])
op("aten.block_diag.default", [bools(2, 2), bools(1, 3)])
op("aten.block_diag.default", [floats(2, 2)])
op("aten.block_diag.default", [floats(0, 3), floats(2, 1)])
op(
    "aten.block_diag.default",
    [floats(4, 3), floats(1, 2)],
    dynamic={0: {0: "n"}},
    alternative=[floats(6, 3), floats(1, 2)],
)
