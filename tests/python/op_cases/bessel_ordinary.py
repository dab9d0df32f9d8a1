import torch

from op_cases import floats, ints, op

NUMBERS = torch.tensor([0.0, 1e-3, 0.5, 3.0, 7.999, 8.0, 8.5, 40.0, 1000.0, -1.0, -9.0, float("nan"), float("inf")])

for name in ("bessel_j0", "bessel_j1", "spherical_bessel_j0"):
    op(f"aten.special_{name}.default", NUMBERS)
    op(f"aten.special_{name}.default", floats(60, low=-20.0, high=20.0))
    op(f"aten.special_{name}.default", ints(6))
for name in ("bessel_y0", "bessel_y1"):
    op(f"aten.special_{name}.default", NUMBERS[:-1])
    op(f"aten.special_{name}.default", floats(60, low=0.1, high=20.0))
op("aten.special_bessel_j0.default", floats(5), dynamic={0: {0: "n"}}, alternative=[floats(8)])
