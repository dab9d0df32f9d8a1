import torch

from op_cases import floats, op

EDGES = torch.tensor([-1.0, -0.25, 0.0, 0.5, 0.75])
op("aten.histogram.bin_ct", floats(5, 7), 6)
op("aten.histogram.bin_ct", floats(50), 6, range=[-0.5, 0.75])
op("aten.histogram.bin_ct", floats(50), 7, weight=floats(50), density=True)
op("aten.histogram.bin_ct", torch.full((4,), 3.0), 5)
op("aten.histogram.bin_ct", torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0, float("nan"), float("inf")]), 4, range=[0.0, 4.0])
op("aten.histogram.bin_ct", floats(50, dtype=torch.float64), 10)
op("aten.histogram.bin_ct", floats(0), 3)
op("aten.histogram.bins_tensor", floats(50), EDGES)
op("aten.histogram.bins_tensor", torch.cat([EDGES, EDGES]), EDGES, density=True)
op("aten.histogramdd.default", floats(20, 3), [2, 3, 4])
op(
    "aten.histogramdd.default",
    floats(4, 5, 2),
    [2, 3],
    range=[-1.0, 1.0, -0.5, 0.5],
    weight=floats(4, 5, low=0.0),
    density=True,
)
op("aten.histogramdd.int_bins", floats(20, 2), 3)
op("aten.histogramdd.TensorList_bins", floats(20, 2), [EDGES, EDGES[1:]])
