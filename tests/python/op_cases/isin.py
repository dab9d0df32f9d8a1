import torch

from op_cases import floats, ints, op

X, T = ints(3, 4), torch.tensor([0, 2, -3])
for invert in (False, True):
    op("aten.isin.Tensor_Tensor", X, T, invert=invert)
    op("aten.isin.Tensor_Tensor", X, ints(2, 2), invert=invert)
    op("aten.isin.Tensor_Tensor", X.float(), T.float(), invert=invert)
    op("aten.isin.Tensor_Tensor", X, ints(0), invert=invert)
    op("aten.isin.Tensor_Tensor", torch.tensor(2), T, invert=invert)
    op("aten.isin.Tensor_Scalar", X, 2, invert=invert)
    op("aten.isin.Scalar_Tensor", 2, T, invert=invert)
op("aten.isin.Tensor_Tensor", X, T, dynamic={0: {0: "n"}, 1: {0: "m"}}, alternative=[ints(2, 4), ints(7)])
op("aten.isin.Tensor_Tensor", X.to(torch.bfloat16), T.to(torch.bfloat16), opsets=(14, 20))
op("aten.isin.Tensor_Tensor", floats(0), floats(3))
