import torch
from op_cases import bools, floats, fn, ints, op

op("aten.copy.default", floats(2, 3), floats(2, 3))
op("aten.copy.default", floats(2, 3), floats(3))
op("aten.copy.default", floats(2, 3), floats())
op("aten.copy.default", ints(2, 3), floats(2, 1))
op("aten.copy.default", floats(2, 3, dtype=torch.float16), ints(2, 3))
op("aten.copy.default", bools(2, 3), floats(2, 3))
op("aten.copy.default", floats(0, 3), floats(3))
op("aten.fill.Scalar", floats(2, 3), 2)
op("aten.fill.Scalar", ints(4), 2.7)
op("aten.fill.Scalar", bools(4), 1)
op("aten.fill.Scalar", floats(), -1.5)
op("aten.fill.Scalar", floats(0, 2), 1)
op("aten.fill.Scalar", floats(2, 3, dtype=torch.bfloat16), float("-inf"))
op("aten.fill.Scalar", floats(2, 3), 5, dynamic={0: {0: "n"}}, alternative=[floats(4, 3)])
op("aten.fill.Tensor", floats(2, 3), floats())
op("aten.fill.Tensor", ints(2, 3), floats())
fn("aten.fill.Tensor", lambda x: torch.fill(x, x[0, 1]), floats(2, 3), dynamic={0: {0: "n"}},
   alternative=[floats(4, 3)])
