import torch

from op_cases import floats, ints, op

op("aten.special_zeta.default", floats(4, 1, low=1.1, high=9.0), floats(7, low=0.1, high=9.0))
op("aten.special_zeta.default", torch.tensor([1.0, 0.5, 2.0, 3.0, 2.5]), torch.tensor([2.0, 2.0, -1.0, -1.5, 0.0]))
op("aten.special_zeta.default", ints(5, low=2, high=9), ints(5, low=1, high=9))
op("aten.special_zeta.other_scalar", floats(5, low=1.5, high=9.0), 2.5)
op("aten.special_zeta.self_scalar", 3, floats(5, low=0.5, high=9.0))
for target in ("aten.polygamma.default", "aten.special_polygamma.default"):
    for order in (0, 1, 2, 4):
        op(target, order, floats(30, low=0.2, high=9.0))
    op(target, 1, floats(30, low=-9.0, high=9.0))
op("aten.polygamma.default", 2, ints(5, low=1, high=9))
op("aten.polygamma.default", 1, floats(5, low=0.2), dynamic={0: {0: "n"}}, alternative=[floats(8, low=0.2)])
op("aten.special_zeta.self_scalar", 3, floats(5, low=0.5), dynamic={0: {0: "n"}}, alternative=[floats(8, low=0.5)])
op("aten.special_zeta.default", floats(5, 0), floats(1))
op("aten.polygamma.default", 1, floats(0))
