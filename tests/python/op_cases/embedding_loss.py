import torch

from op_cases import floats, ints, op

SIGNS = torch.tensor([1.0, -1.0, 1.0, -1.0])

for reduction in (0, 1, 2):
    op("aten.hinge_embedding_loss.default", floats(3, 4), SIGNS, 0.3, reduction)
    op("aten.cosine_embedding_loss.default", floats(4, 3), floats(4, 3, low=-1.0), SIGNS, 0.1, reduction)
op("aten.hinge_embedding_loss.default", floats(4, dtype=torch.float16), torch.tensor([1.0, 0.0, -1.0, 1.0]).half())
op(
    "aten.hinge_embedding_loss.default",
    floats(4),
    SIGNS,
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[floats(6), torch.ones(6)],
)
op("aten.cosine_embedding_loss.default", floats(3), floats(3, low=0.0), torch.tensor(-1.0))
op("aten.cosine_embedding_loss.default", ints(4, 3), ints(4, 3, low=0), torch.tensor([1, -1, 1, -1]))
op(
    "aten.cosine_embedding_loss.default",
    floats(4, 3),
    floats(4, 3, low=-1.0),
    SIGNS,
    0.1,
    0,
    dynamic={i: {0: "n"} for i in range(3)},
    alternative=[floats(6, 3), floats(6, 3, low=-1.0), torch.ones(6)],
)
