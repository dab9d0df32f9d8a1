from op_cases import floats, ints, op

op("aten.cartesian_prod.default", [ints(3), ints(2)])
op("aten.cartesian_prod.default", [floats(2), floats(3), floats(2)])
op("aten.cartesian_prod.default", [floats(4)])
op("aten.cartesian_prod.default", [floats(4), floats(0)])
op("aten.cartesian_prod.default", [floats(4), floats(3)], dynamic={0: {0: "n"}}, alternative=[floats(6), floats(3)])
