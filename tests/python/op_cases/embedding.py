import torch

from op_cases import floats, ints, op

op("aten.embedding.default", floats(7, 3), ints(2, 4, low=0, high=7))
op("aten.embedding.default", floats(7, 3), ints(2, 4, low=0, high=7, dtype=torch.int32), 2)
op("aten.embedding.default", floats(7, 3, dtype=torch.float16), ints(4, low=0, high=7))
op("aten.embedding.default", floats(7, 3, dtype=torch.bfloat16), ints(4, low=0, high=7))
op("aten.embedding.default", floats(7, 3), ints(0, low=0, high=7))
op("aten.embedding.default", floats(7, 3), torch.tensor(3))
op(
    "aten.embedding.default",
    floats(7, 3),
    ints(2, 4, low=0, high=7),
    dynamic={1: {0: "b", 1: "s"}},
    alternative=[floats(7, 3), ints(3, 5, low=0, high=7)],
)
