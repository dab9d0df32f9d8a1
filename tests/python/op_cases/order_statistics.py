import torch
from op_cases import floats, ints, op

NAN = torch.tensor([[1.0, float("nan"), 2.0, 5.0], [float("nan")] * 4, [3.0, -1.0, 0.5, 7.0]])
op("aten.median.default", floats(3, 5))
op("aten.median.default", floats(4))
op("aten.median.default", ints(3, 4))
op("aten.median.default", floats(3, 5), dynamic={0: {0: "n"}}, alternative=[floats(4, 5)])
op("aten.median.default", floats())
op("aten.nanmedian.default", NAN)
op("aten.nanmedian.default", ints(5))
for dim in (0, -1):
    for keepdim in (False, True):
        op("aten.median.dim", floats(3, 5), dim, keepdim)
        op("aten.median.dim", floats(4, 6), dim, keepdim)
        op("aten.nanmedian.dim", NAN[::2], dim, keepdim)
op("aten.nanmedian.dim", floats(4, 6), 1, dynamic={0: {0: "n"}}, alternative=[floats(2, 6)])
op("aten.median.dim", floats(), 0)
op("aten.median.dim", floats(4, 6, dtype=torch.bfloat16), 1, opsets=(14, 20))
op("aten.median.dim", floats(4, 6), 1, dynamic={0: {1: "n"}}, alternative=[floats(4, 9)])
op("aten.mode.default", ints(4, 9, low=0, high=4))
op("aten.mode.default", ints(9, 4, low=0, high=4), 0, True)
op("aten.mode.default", ints(4, 9, low=0, high=4).float())
op("aten.mode.default", ints(4, 9, low=0, high=4).to(torch.bfloat16), opsets=(14, 20))
op("aten.mode.default", floats())
for interpolation in ("linear", "lower", "higher", "nearest", "midpoint"):
    op("aten.quantile.scalar", floats(3, 5), 0.3, 1, interpolation=interpolation)
    op("aten.quantile.scalar", floats(3, 5), 0.6, interpolation=interpolation)
    op("aten.quantile.default", floats(3, 5), torch.tensor([0.1, 0.5, 0.9]), 0, True, interpolation=interpolation)
op("aten.quantile.default", floats(3, 5), torch.tensor([0.0, 1.0]), 1)
op("aten.quantile.default", floats(3, 5), torch.tensor(0.4), 1, True)
op("aten.quantile.default", floats(2, 3, 5), torch.tensor([0.25, 0.75]), -2)
op("aten.quantile.scalar", floats(3, 5, dtype=torch.float64), 0.3, 1)
op("aten.quantile.scalar", floats(3, 5), 0.3, 1, dynamic={0: {1: "n"}}, alternative=[floats(3, 8)])
