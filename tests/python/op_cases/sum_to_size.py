from op_cases import bools, floats, ints, op

op("aten.sum_to_size.default", floats(4, 3), [1, 3])
op("aten.sum_to_size.default", ints(2, 4, 3), [4, 1])
op("aten.sum_to_size.default", floats(2, 4, 3), [])
op("aten.sum_to_size.default", bools(4, 3), [3])
op("aten.sum_to_size.default", floats(4, 3), [4, 3])
op("aten.sum_to_size.default", floats(4, 3), [3], dynamic={0: {0: "n"}}, alternative=[floats(6, 3)])
