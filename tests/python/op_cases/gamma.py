import torch

from op_cases import floats, ints, op

X = torch.tensor(
    [-3.5, -2.0, -1.2, -0.1, 0.0, 1e-3, 0.3, 0.5, 1.0, 1.5, 2.0, 7.3, 40.0, 1e6, float("inf"), float("nan")]
)
for name in ("lgamma", "digamma", "special_gammaln", "special_psi", "special_digamma"):
    op(f"aten.{name}.default", X)
    op(
        f"aten.{name}.default",
        floats(2, 3, low=0.1, high=9.0),
        dynamic={0: {0: "n"}},
        alternative=[floats(4, 3, low=0.1, high=9.0)],
    )
    op(f"aten.{name}.default", floats(3, low=0.1, high=9.0, dtype=torch.float64), rtol=1e-9)
    op(f"aten.{name}.default", ints(4, low=1))
    op(f"aten.{name}.default", floats(5, low=0.1, high=9.0, dtype=torch.bfloat16), opsets=(14, 20))

for target in ("aten.mvlgamma.default", "aten.special_multigammaln.default"):
    op(target, floats(3, 4, low=3.0, high=9.0), 3)
    op(target, floats(4, low=3.0, high=9.0), 1)
op("aten.mvlgamma.default", ints(3, 4, low=4, high=9), 5)
op(
    "aten.mvlgamma.default",
    floats(5, low=3.0, high=9.0),
    2,
    dynamic={0: {0: "n"}},
    alternative=[floats(8, low=3.0, high=9.0)],
)
for target in ("aten.lgamma.default", "aten.digamma.default"):
    op(target, floats(0, 3))
    op(target, floats(2, 3), dynamic={0: {0: "n"}}, alternative=[floats(0, 3)])
op("aten.lgamma.default", floats(2, 0))
op("aten.mvlgamma.default", floats(0), 2)
