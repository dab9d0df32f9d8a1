import torch

from op_cases import bools, floats, ints, op

op("aten.masked_fill.Scalar", floats(3, 4), bools(3, 4), 2)
op("aten.masked_fill.Scalar", floats(3, 4), bools(4), float("-inf"))
op("aten.masked_fill.Scalar", ints(3, 4), bools(3, 1), -1)
op("aten.masked_fill.Scalar", floats(1, 4), bools(3, 1), 0.5)
op("aten.masked_fill.Scalar", floats(3, 4, dtype=torch.float16), bools(3, 4), -65504.0)
op("aten.masked_fill.Tensor", floats(3, 4), bools(3, 4), torch.tensor(2.0))
op("aten.masked_fill.Tensor", floats(3, 4), bools(3, 4), torch.tensor(2))
op("aten.masked_scatter.default", floats(3, 4), bools(3, 4), floats(12))
op("aten.masked_scatter.default", floats(3, 4), bools(3, 1), floats(4, 4))
op("aten.masked_scatter.default", floats(2, 3), torch.zeros(2, 3, dtype=torch.bool), floats(6))
op("aten.masked_select.default", floats(3, 4), bools(3, 4))
op("aten.masked_select.default", floats(3, 4), bools(4))
op("aten.nonzero.default", floats(3, 4).relu())
op("aten.nonzero.default", bools(5))
op("aten.nonzero.default", ints(3, 4, low=0, high=2, dtype=torch.int16))
op("aten.argwhere.default", bools(3, 4))
for target in ("aten.nonzero_numpy.default", "aten.where.default"):
    op(target, bools(3, 4))
    op(target, bools(6))
    op(target, torch.tensor(True))
    op(target, floats(3, 4).relu())
    op(target, ints(3, 4, low=0, high=2, dtype=torch.int16))
    op(target, bools(3, 4), dynamic={0: {0: "n"}}, alternative=[bools(5, 4)])
op("aten.masked_select.default", floats(3, 1), torch.ones(1, 2, dtype=torch.bool))
op("aten.masked_select.default", floats(2, 1, 3), bools(4, 1))
op("aten.masked_select.default", floats(), bools(3))
op(
    "aten.masked_select.default",
    floats(3, 1),
    bools(1, 2),
    dynamic={0: {0: "n"}},
    alternative=[floats(5, 1), bools(1, 2)],
)
NONE = torch.zeros(3, 4, dtype=torch.bool)
op("aten.masked_scatter.default", floats(3, 4), NONE, floats(0))
op("aten.masked_scatter.default", floats(3, 1), bools(1, 4), floats(12))
for x, source in (
    (floats(3, 4), floats(12)),
    (ints(3, 4), ints(12)),
    (bools(3, 4), bools(12)),
    (floats(3, 4, dtype=torch.bfloat16), floats(12, dtype=torch.bfloat16)),
):
    op("aten.masked_scatter.default", x, bools(3, 4), source, dynamic={2: {0: "n"}}, alternative=[x, NONE, source[:0]])
op(
    "aten.masked_scatter.default",
    floats(3, 4),
    bools(3, 1),
    floats(12, 4),
    dynamic={0: {0: "a"}, 1: {0: "a"}, 2: {0: "n"}},
    alternative=[floats(5, 4), torch.zeros(5, 1, dtype=torch.bool), floats(0, 4)],
)
op("aten.masked_fill.Scalar", bools(3, 4), bools(4), True)
op("aten.masked_fill.Scalar", bools(3, 4), bools(4), False)
op("aten.masked_fill.Tensor", bools(3, 4), bools(3, 4), torch.tensor(True))
op("aten.masked_scatter.default", bools(3, 4), bools(3, 4), bools(12))
op("aten.nonzero.default", torch.tensor(2.0))
op("aten.nonzero.default", torch.tensor(0))
op("aten.nonzero_static.default", floats(3, 4).relu(), size=5)
op("aten.nonzero_static.default", bools(3, 4), size=20, fill_value=7)
op("aten.nonzero_static.default", bools(6), size=0)
op("aten.nonzero_static.default", torch.tensor(2.0), size=2)
op("aten.nonzero_static.default", bools(3, 4), size=9, dynamic={0: {0: "n"}}, alternative=[bools(5, 4)])
