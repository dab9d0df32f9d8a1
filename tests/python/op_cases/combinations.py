from op_cases import bools, floats, ints, op

op("aten.combinations.default", floats(4))
op("aten.combinations.default", ints(4), 3)
op("aten.combinations.default", ints(3), 2, True)
op("aten.combinations.default", bools(3), 1)
op("aten.combinations.default", floats(2), 3)
op("aten.combinations.default", floats(0), 2)
op("aten.combinations.default", floats(3), 0)
