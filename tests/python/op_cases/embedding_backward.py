import torch

from op_cases import floats, ints, op

TARGET = "aten.embedding_dense_backward.default"
OPSETS = (14, 15, 16, 18, 20, 24)
for padding in (-1, 0, 3):
    for by_frequency in (False, True):
        op(TARGET, floats(2, 6, 3), ints(2, 6, low=0, high=5), 7, padding, by_frequency, opsets=OPSETS)
op(TARGET, floats(4, 3), ints(4, low=0, high=5, dtype=torch.int32), 7, -1, False, opsets=OPSETS)
op(TARGET, floats(3), torch.tensor(2), 7, -1, True, opsets=OPSETS)
op(
    TARGET,
    floats(2, 6, 3),
    ints(2, 6, low=0, high=5),
    7,
    2,
    True,
    dynamic={0: {0: "b", 1: "l"}, 1: {0: "b", 1: "l"}},
    alternative=[floats(5, 4, 3), ints(5, 4, low=0, high=7)],
    opsets=OPSETS,
)
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    op(TARGET, floats(2, 6, 3, dtype=dtype), ints(2, 6, low=0, high=5), 7, 1, False, opsets=OPSETS)
op(TARGET, floats(0, 3), ints(0), 7, -1, True, opsets=OPSETS)
