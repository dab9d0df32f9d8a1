import torch

from op_cases import floats, op

for p in (2.0, 1.0, 0.0, 3.5, float("inf")):
    op("aten.cdist.default", floats(3, 5), floats(4, 5), p)
    op("aten._cdist_forward.default", floats(2, 3, 5), floats(2, 4, 5), p, None)
    op("aten.pairwise_distance.default", floats(3, 5), floats(1, 5), p)
op("aten.cdist.default", floats(2, 1, 30, 5), floats(6, 40, 5))
op("aten.cdist.default", floats(3, 5, dtype=torch.float64), floats(4, 5, dtype=torch.float64))
op(
    "aten.cdist.default",
    floats(3, 5),
    floats(4, 5),
    dynamic={0: {0: "a"}, 1: {0: "b"}},
    alternative=[floats(6, 5), floats(7, 5)],
)
op("aten.pairwise_distance.default", floats(3, 5), floats(3, 5), keepdim=True)
op("aten.cosine_similarity.default", floats(3, 5), floats(3, 5))
op("aten.cosine_similarity.default", floats(3, 5), floats(1, 5), -1)
op("aten.cosine_similarity.default", floats(3, 5, 2), floats(5, 1), 0, 0.5)
op("aten.cosine_similarity.default", floats(3, 5, dtype=torch.bfloat16), floats(3, 5, dtype=torch.bfloat16))
for p in (2.0, 1.0, 0.0, 3.0, float("inf")):
    op("aten.cdist.default", floats(2, 0), floats(4, 0), p, opsets=(14, 20))
op("aten.cdist.default", floats(0, 3), floats(4, 3))
op("aten.pairwise_distance.default", floats(3, 0), floats(3, 0))
op("aten.cosine_similarity.default", floats(0, 3), floats(0, 3))
op("aten.cosine_similarity.default", floats(3, 0), floats(3, 0))
for dim in (0, 1, -1):
    op("aten.cosine_similarity.default", floats(3, 4), floats(4), dim)
    op("aten.cosine_similarity.default", floats(4), floats(3, 4), dim)
op("aten.cosine_similarity.default", floats(), floats(), 0)
