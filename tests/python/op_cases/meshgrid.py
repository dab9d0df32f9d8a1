import torch

from op_cases import bools, floats, ints, op

op("aten.meshgrid.default", [floats(3), floats(4)])
op("aten.meshgrid.default", [floats(3)])
for indexing in ("ij", "xy"):
    op("aten.meshgrid.indexing", [floats(3), floats(4)], indexing=indexing)
    op("aten.meshgrid.indexing", [ints(3), ints(2), ints(4)], indexing=indexing)
    op("aten.meshgrid.indexing", [floats(), floats(4)], indexing=indexing)
    op(
        "aten.meshgrid.indexing",
        [floats(3), floats(4)],
        indexing=indexing,
        dynamic={0: {0: "n"}},
        alternative=[floats(5), floats(4)],
    )
    op(
        "aten.meshgrid.indexing",
        [floats(3), floats(4)],
        indexing=indexing,
        dynamic={0: {0: "n"}, 1: {0: "m"}},
        alternative=[floats(5), floats(2)],
    )
    op(
        "aten.meshgrid.indexing",
        [floats(3, dtype=torch.bfloat16), floats(4, dtype=torch.bfloat16)],
        indexing=indexing,
        opsets=(14, 20),
    )
    op("aten.meshgrid.indexing", [bools(3), bools(4)], indexing=indexing, opsets=(14, 20))
