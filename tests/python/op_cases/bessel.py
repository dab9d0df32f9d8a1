import torch

from op_cases import floats, ints, op

X = torch.tensor([-9.0, -3.0, -0.5, 0.0, 0.5, 3.0, 3.75, 4.0, 20.0, float("nan")])
for name in ("i0", "special_i0", "special_i0e", "special_i1", "special_i1e"):
    op(f"aten.{name}.default", X)
    op(f"aten.{name}.default", floats(2, 3), dynamic={0: {0: "n"}}, alternative=[floats(4, 3)])
    op(f"aten.{name}.default", ints(4))
    op(f"aten.{name}.default", floats(3, dtype=torch.float64))

for name in ("modified_bessel_i0", "modified_bessel_i1"):
    op(f"aten.special_{name}.default", floats(3, 40, low=-9.0, high=9.0))
    op(f"aten.special_{name}.default", floats(5), dynamic={0: {0: "n"}}, alternative=[floats(8)])
