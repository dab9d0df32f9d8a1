from op_cases import floats, ints, op

op("aten._chunk_cat.default", [floats(4, 3), floats(2, 3)], 0, 2)
op("aten._chunk_cat.default", [floats(5, 3), floats(3)], 0, 2)
op("aten._chunk_cat.default", [ints(2, 5, 2), ints(2, 3)], 1, 3)
