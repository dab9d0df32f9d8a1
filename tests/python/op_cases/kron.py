from op_cases import bools, floats, ints, op

op("aten.kron.default", floats(2, 3), floats(4, 5))
op("aten.kron.default", floats(3), floats(4, 5))
op("aten.kron.default", floats(2, 3, 2), floats(4))
op("aten.kron.default", ints(2, 3), floats(2, 2))
op("aten.kron.default", floats(), floats(2))
op("aten._trilinear.default", floats(2, 3), floats(4, 3, 5), floats(2, 5), [1, 3], [0], [1, 2], [2, 3])
op("aten.kron.default", bools(2, 3), bools(2, 2))
