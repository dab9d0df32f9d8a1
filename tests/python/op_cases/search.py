import torch

from op_cases import floats, ints, op

ROW = torch.tensor([-1.0, 0.0, 0.5, 0.5, 2.0])
X = torch.tensor([[-3.0, -1.0, 0.2], [0.5, 2.0, 9.0]])
ROWS = floats(2, 5).sort().values
for right in (False, True):
    op("aten.bucketize.Tensor", X, ROW, right=right)
    op("aten.bucketize.Tensor", X, ROW, right=right, out_int32=True)
    op("aten.bucketize.Scalar", 0.5, ROW, right=right)
    op("aten.bucketize.Tensor", ints(3, 4), torch.tensor([-2, 0, 1, 3]), right=right)
    op("aten.searchsorted.Tensor", ROW, X, right=right)
    op("aten.searchsorted.Tensor", ROWS, floats(2, 3), right=right)
    op("aten.searchsorted.Scalar", ROW, 0.5, right=right)
op("aten.searchsorted.Tensor", ROW, X, dynamic={1: {0: "n"}}, alternative=[ROW, floats(4, 3)])
op("aten.bucketize.Tensor", X.double(), ROW.double())
op("aten.bucketize.Tensor", torch.tensor(0.3), ROW)
op("aten.bucketize.Tensor", X.bfloat16(), ROW.bfloat16(), opsets=(14, 20))
op("aten.searchsorted.Tensor", ROW, X, side="right")
op("aten.searchsorted.Tensor", ROW.flip(0), X, sorter=torch.tensor([4, 3, 2, 1, 0]))
op("aten.searchsorted.Tensor", ROWS, floats(2, 3), out_int32=True)
for row, x in (
    ((0,), (3,)),
    ((0,), (2, 3)),
    ((0,), ()),
    ((0,), (0,)),
    ((5,), (0,)),
    ((2, 0), (2, 3)),
    ((2, 5), (2, 0)),
    ((0, 5), (0, 3)),
):
    op("aten.searchsorted.Tensor", floats(*row), floats(*x))
    op("aten.searchsorted.Tensor", floats(*row), floats(*x), right=True, out_int32=True, opsets=(14, 20))
    if len(row) == 1:
        op("aten.bucketize.Tensor", floats(*x), floats(*row), opsets=(14, 20))
op("aten.searchsorted.Scalar", floats(0), 0.5)
op("aten.bucketize.Scalar", 0.5, floats(0))
op("aten.searchsorted.Tensor", floats(2, 0), floats(2, 3), sorter=ints(2, 0))
op("aten.searchsorted.Tensor", ROW, X, dynamic={0: {0: "n"}, 1: {0: "m"}}, alternative=[ROW[:0], X])
op("aten.searchsorted.Tensor", ROW, X, dynamic={0: {0: "n"}, 1: {0: "m"}}, alternative=[ROW, X[:0]])
