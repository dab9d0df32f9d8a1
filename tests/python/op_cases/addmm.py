import torch
from op_cases import floats, ints, op

op("aten.addmm.default", floats(4), floats(2, 3), floats(3, 4))
op("aten.addmm.default", floats(2, 4), floats(2, 3), floats(3, 4), beta=0.5, alpha=2)
op("aten.addmm.default", floats(2, 1), floats(2, 3), floats(3, 4), dynamic={0: {0: "b"}, 1: {0: "b"}},
   alternative=[floats(5, 1), floats(5, 3), floats(3, 4)])
op("aten.addmm.default", torch.full((4,), float("nan")), floats(2, 3), floats(3, 4), beta=0)
op("aten.addmm.default", ints(4), ints(2, 3), ints(3, 4), beta=2, alpha=3)
op("aten.addmm.default", floats(4, dtype=torch.float64), floats(2, 3, dtype=torch.float64),
   floats(3, 4, dtype=torch.float64), beta=0.1)
for dtype in (torch.float16, torch.bfloat16):
    op("aten.addmm.default", floats(4, dtype=dtype), floats(2, 3, dtype=dtype), floats(3, 4, dtype=dtype), alpha=0.5)
op("aten.addmv.default", floats(2), floats(2, 3), floats(3), beta=0.5, alpha=2)
op("aten.addmv.default", floats(1), floats(2, 3), floats(3), beta=0)
op("aten.addr.default", floats(2, 3), floats(2), floats(3), beta=0.5, alpha=2)
op("aten.baddbmm.default", floats(5, 2, 4), floats(5, 2, 3), floats(5, 3, 4), beta=0.5, alpha=2)
op("aten.baddbmm.default", floats(1, 2, 4), floats(5, 2, 3), floats(5, 3, 4), beta=0)
op("aten.baddbmm.default", floats(4), floats(5, 2, 3), floats(5, 3, 4))
op("aten.addbmm.default", floats(2, 4), floats(5, 2, 3), floats(5, 3, 4), beta=0.5, alpha=2)
