import torch

from op_cases import floats, op

op("aten.frexp.Tensor", floats(3, 40))
op("aten.frexp.Tensor", floats(40, dtype=torch.float16))
op("aten.frexp.Tensor", floats(40, dtype=torch.float64))
op(
    "aten.frexp.Tensor",
    torch.tensor([0.0, 1.0, -0.5, 0.25, 1e-45, 3e38, 2.0**-126, float("inf"), float("nan"), 7.9999995]),
)
op("aten.frexp.Tensor", 2.0 ** torch.arange(-140.0, 127.0))
op("aten.frexp.Tensor", floats(5), dynamic={0: {0: "n"}}, alternative=[floats(8)])
