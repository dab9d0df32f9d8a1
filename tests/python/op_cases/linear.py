from op_cases import floats, op

op("aten.linear.default", floats(2, 3), floats(4, 3), floats(4))
op("aten.linear.default", floats(2, 5, 3), floats(4, 3), floats(4))
op("aten.linear.default", floats(2, 5, 3), floats(4, 3), dynamic={0: {0: "b", 1: "s"}}, alternative=[floats(3, 4, 3), floats(4, 3)])
op("aten.linear.default", floats(3), floats(4, 3), floats(4))
