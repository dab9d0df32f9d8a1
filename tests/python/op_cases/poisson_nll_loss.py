import torch

from op_cases import floats, ints, op

for reduction in (0, 1, 2):
    op("aten.poisson_nll_loss.default", floats(3, 4), floats(3, 4, low=0.0, high=4.0), True, False, 1e-8, reduction)
op("aten.poisson_nll_loss.default", floats(3, 4, low=0.0), floats(3, 4, low=0.0, high=4.0), False, True, 1e-8, 1)
op("aten.poisson_nll_loss.default", floats(3, 4), ints(3, 4, low=0), True, True, 1e-8, 0)
op(
    "aten.poisson_nll_loss.default",
    floats(3, 4, dtype=torch.float16),
    floats(3, 4, dtype=torch.float16, low=0.0),
    True,
    True,
    1e-8,
    1,
)
op(
    "aten.poisson_nll_loss.default",
    floats(3, 4),
    floats(3, 4, low=0.0),
    True,
    False,
    1e-8,
    0,
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[floats(5, 4), floats(5, 4, low=0.0)],
)
