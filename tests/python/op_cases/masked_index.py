import torch

from op_cases import bools, floats, ints, op

FAR = torch.tensor([[-9], [0], [2], [7]])
COLUMNS = torch.tensor([[0, 1, 5]])
for make in (floats, ints, bools):
    op("aten._unsafe_masked_index.default", make(5, 4), bools(4, 3), [FAR, COLUMNS], 1)
    op(
        "aten._unsafe_masked_index_put_accumulate.default",
        make(5, 4),
        bools(4, 3),
        [FAR, COLUMNS],
        make(4, 3),
        since=16,
    )
half = torch.float16
op("aten._unsafe_masked_index.default", floats(5, 4, dtype=half), bools(4, 3), [FAR, COLUMNS], 0.5)
op(
    "aten._unsafe_masked_index_put_accumulate.default",
    floats(5, 4, dtype=half),
    bools(4, 3),
    [FAR, COLUMNS],
    floats(4, 3, dtype=half),
    since=16,
)
op("aten._unsafe_masked_index.default", floats(2, 5, 4), bools(2, 4, 3), [None, FAR, COLUMNS], 2.5)
op("aten._unsafe_masked_index.default", floats(0, 4), bools(4, 3), [FAR, COLUMNS], 2.5)
op("aten._unsafe_masked_index_put_accumulate.default", floats(0, 4), bools(4, 3), [FAR, COLUMNS], floats(4, 3))
op(
    "aten._unsafe_masked_index.default",
    floats(5, 4),
    bools(4, 3),
    [FAR, COLUMNS],
    2.5,
    dynamic={0: {0: "n"}},
    alternative=[floats(2, 4), bools(4, 3), FAR, COLUMNS],
)
op(
    "aten._unsafe_masked_index_put_accumulate.default",
    floats(5, 4),
    bools(4, 3),
    [FAR, COLUMNS],
    floats(4, 3),
    dynamic={0: {0: "n"}},
    alternative=[floats(2, 4), bools(4, 3), FAR, COLUMNS, floats(4, 3)],
    since=16,
)
