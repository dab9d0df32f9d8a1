import torch

from op_cases import floats, ints, op

NAMES = (
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
)
DEGREES = torch.tensor([-1.0, 0.0, 1.0, 2.0, 5.0, 9.0])

for name in NAMES:
    op(f"aten.special_{name}.default", floats(4, 1, low=-1.0), DEGREES)
    op(f"aten.special_{name}.x_scalar", 0.4, DEGREES)
    op(f"aten.special_{name}.n_scalar", floats(5, low=0.0), 3)
op("aten.special_chebyshev_polynomial_t.default", ints(4), ints(4, low=0))
op("aten.special_hermite_polynomial_h.n_scalar", floats(0), 3)
op(
    "aten.special_legendre_polynomial_p.n_scalar",
    floats(5, low=-1.0),
    4,
    dynamic={0: {0: "n"}},
    alternative=[floats(8, low=-1.0)],
)
