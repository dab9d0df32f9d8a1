import torch

from op_cases import floats, ints, op

op("aten.special_airy_ai.default", floats(40, low=-12.0, high=12.0))
op(
    "aten.special_airy_ai.default",
    torch.tensor([0.0, -0.0, 2.09, -2.09, 2.0899, 5.0, 8.4, 104.0, float("inf"), float("-inf"), float("nan")]),
)
op("aten.special_airy_ai.default", torch.linspace(-12, 12, 40, dtype=torch.float64))
op("aten.special_airy_ai.default", ints(6))
op("aten.special_airy_ai.default", floats())
op("aten.special_airy_ai.default", floats(5), dynamic={0: {0: "n"}}, alternative=[floats(8)])
