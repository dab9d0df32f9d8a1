import torch

from op_cases import floats, op

op("aten.special_ndtri.default", floats(60, low=0.0))
op(
    "aten.special_ndtri.default",
    torch.tensor([0.0, 1e-20, 1e-6, 0.02425, 0.5, 0.97575, 0.9999999, 1.0, -0.5, 1.5, float("nan")]),
)
op("aten.special_ndtri.default", floats(5, low=0.0), dynamic={0: {0: "n"}}, alternative=[floats(8, low=0.0)])
