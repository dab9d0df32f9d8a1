import torch

from op_cases import floats, ints, op

NUMBERS = torch.tensor([0.0, 1e-3, 0.5, 1.0, 1.999, 2.0, 2.5, 7.0, 30.0, -1.0, float("nan")])

for name in ("modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1"):
    op(f"aten.special_{name}.default", NUMBERS)
    op(f"aten.special_{name}.default", floats(40, low=0.01, high=12.0))
    op(f"aten.special_{name}.default", ints(6, low=1))
op(
    "aten.special_modified_bessel_k0.default",
    floats(5, low=0.1),
    dynamic={0: {0: "n"}},
    alternative=[floats(8, low=0.1)],
)
