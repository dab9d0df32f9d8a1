import torch

from op_cases import floats, ints, op

SIGNS = torch.tensor([1.0, -1.0, 1.0, -1.0])

for reduction in (0, 1, 2):
    op("aten.margin_ranking_loss.default", floats(4), floats(1), SIGNS, 0.3, reduction)
    op("aten.soft_margin_loss.default", floats(3, 4), SIGNS, reduction)
    op("aten.triplet_margin_loss.default", floats(3, 4), floats(1, 4), floats(3, 1), reduction=reduction)
    op("aten.multi_margin_loss.default", floats(3, 4), torch.tensor([3, 0, 1]), reduction=reduction)
    op("aten.multilabel_margin_loss.default", floats(2, 4), torch.tensor([[3, 0, -1, 1], [2, 1, 0, 3]]), reduction)
op("aten.margin_ranking_loss.default", ints(4), ints(4, low=0), ints(4, low=-1, high=1))
op(
    "aten.margin_ranking_loss.default",
    floats(4, dtype=torch.float16),
    floats(4, dtype=torch.float16),
    SIGNS.half(),
    0.5,
)
op(
    "aten.margin_ranking_loss.default",
    floats(4),
    floats(4),
    SIGNS,
    0.3,
    0,
    dynamic={0: {0: "n"}, 1: {0: "n"}, 2: {0: "n"}},
    alternative=[floats(6), floats(6), torch.ones(6)],
)
op(
    "aten.soft_margin_loss.default",
    floats(2, 3),
    floats(2, 3),
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[floats(5, 3), floats(5, 3)],
)
op(
    "aten.triplet_margin_loss.default",
    floats(3, 4),
    floats(3, 4, low=0.0),
    floats(3, 4, low=-1.0),
    0.5,
    3.0,
    1e-6,
    True,
)
op("aten.triplet_margin_loss.default", floats(4), floats(4, low=0.0), floats(4, low=-1.0), 0.5, 1.0)
op("aten.multi_margin_loss.default", floats(3, 4), torch.tensor([3, 0, 1]), 2, 0.5, floats(4, low=0.1))
op("aten.multi_margin_loss.default", floats(4), torch.tensor(2))
op(
    "aten.multi_margin_loss.default",
    floats(3, 4),
    torch.tensor([3, 0, 1]),
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[floats(2, 4), torch.tensor([1, 2])],
)
op("aten.multilabel_margin_loss.default", floats(4), torch.tensor([1, -1, 2, 0]))
op("aten.multilabel_margin_loss.default", floats(4), torch.tensor([-1, -1, 2, 0]))
op(
    "aten.multilabel_margin_loss.default",
    floats(2, 3),
    torch.tensor([[1, -1, 0], [0, 2, -1]]),
    0,
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[floats(3, 3), torch.tensor([[1, -1, 0], [0, 2, -1], [-1, 1, 1]])],
)
