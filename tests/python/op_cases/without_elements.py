"""Sizes that come from data and are 0 when the model runs: the selection of a mask that is nowhere true."""

import torch
import torch.nn.functional as F

from op_cases import floats, fn

MASK, NOWHERE = torch.tensor([True, False, True, True]), torch.zeros(5, dtype=torch.bool)


def chosen(target, function, **settings):
    """`function` of chosen rows: three of four in the capture, then none of five."""
    settings.setdefault("opsets", (14, 20))
    fn(
        target,
        lambda x, mask: function(x[mask]),
        floats(4, 3),
        MASK,
        dynamic={0: {0: "n"}, 1: {0: "n"}},
        alternative=[floats(5, 3), NOWHERE],
        **settings,
    )


chosen("aten.cumsum.default", lambda x: x.cumsum(0))
chosen("aten.cumprod.default", lambda x: x.cumprod(0))
chosen("aten.cumprod.default", lambda x: x.cumprod(1))
chosen("aten.logcumsumexp.default", lambda x: x.logcumsumexp(0))
chosen("aten.sum.default", lambda x: x.sum())
chosen("aten.prod.default", lambda x: x.prod())
chosen("aten.mean.default", lambda x: x.mean())
chosen("aten.mean.dim", lambda x: x.mean(0))
chosen("aten.mean.dim", lambda x: x.half().mean(0, keepdim=True))
chosen("aten.mean.dim", lambda x: x.mean(1))
chosen("aten.var_mean.dim", lambda x: torch.var_mean(x, dim=0))
chosen("aten.std.dim", lambda x: x.std(0))
chosen("aten.all.default", lambda x: (x > 0).all())
chosen("aten.any.dim", lambda x: (x > 0).any(0))
chosen("aten.softmax.int", lambda x: x.softmax(0))
chosen("aten.sort.default", lambda x: x.sort(0).values)
chosen("aten.topk.default", lambda x: x.topk(2, 1)[0])
chosen("aten.matmul.default", lambda x: x.t() @ x)
chosen("aten.matmul.default", lambda x: x.t() @ x[:, 0])
chosen("aten.matmul.default", lambda x: x[:, 0] @ x[:, 1])
chosen("aten.bmm.default", lambda x: torch.bmm(x.t().expand(64, 3, -1), x.expand(64, -1, 3)))
chosen("aten.addmm.default", lambda x: torch.addmm(torch.ones(3, 3), x.t(), x, beta=2))
chosen("aten.addmv.default", lambda x: torch.addmv(torch.ones(3), x.t(), x[:, 0], beta=0.5))
chosen("aten.lgamma.default", lambda x: x.lgamma())
chosen("aten.searchsorted.Tensor", lambda x: torch.searchsorted(torch.arange(5.0), x))
chosen("aten.isin.Tensor_Tensor", lambda x: torch.isin(torch.arange(3.0), x))
chosen("aten.isin.Tensor_Tensor", lambda x: torch.isin(x, torch.arange(3.0)))
chosen("aten.unique_consecutive.default", lambda x: torch.unique_consecutive(x[:, 0], True, True))
chosen("aten.cosine_similarity.default", lambda x: F.cosine_similarity(x, x, dim=1))
chosen("aten.cosine_similarity.default", lambda x: F.cosine_similarity(x, x, dim=0))
chosen("aten.pad.default", lambda x: F.pad(x.unsqueeze(1), [1, 1], mode="circular"))
chosen("aten.view.default", lambda x: x.view(x.shape[0], 1, 3))
chosen("aten.layer_norm.default", lambda x: F.layer_norm(x, [3]))


def with_pictures(ids, table, features):
    """As language models put features of pictures in the places of their tokens."""
    embedded = table[ids]
    return embedded.masked_scatter((ids == 7).unsqueeze(-1).expand_as(embedded), features)


def with_pictures_by_mask(ids, table, features):
    embedded = table[ids].clone()
    embedded[ids == 7] = features
    return embedded


for target, function in (
    ("aten.masked_scatter.default", with_pictures),
    ("aten.index_put.default", with_pictures_by_mask),
):
    fn(
        target,
        function,
        torch.tensor([[1, 7, 7, 3]]),
        floats(9, 5),
        floats(2, 5),
        dynamic={0: {1: "n"}, 2: {0: "k"}},
        alternative=[torch.tensor([[1, 2, 3]]), floats(9, 5), floats(0, 5)],
    )
