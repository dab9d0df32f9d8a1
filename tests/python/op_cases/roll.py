from op_cases import floats, ints, op

op("aten.roll.default", floats(4, 5), [1], [0])
op("aten.roll.default", floats(4, 5), [-1, 7], [0, -1])
op("aten.roll.default", floats(4, 5), [3])
op("aten.roll.default", floats(2, 4, 5), [1, 2], [1, 2], dynamic={0: {0: "b"}}, alternative=[floats(3, 4, 5)])
op("aten.roll.default", floats(4, 5), [-2], [0], dynamic={0: {0: "n"}}, alternative=[floats(7, 5)])
op("aten.roll.default", floats(4, 5), [0], [0])
op("aten.flip.default", floats(4, 5), [0])
op("aten.flip.default", floats(4, 5), [-1, 0])
op("aten.flip.default", ints(0, 5), [0])
op("aten.flip.default", floats(4), [])
op("aten.fliplr.default", floats(4, 5))
op("aten.flipud.default", floats(4, 5))
for k in (0, 1, 2, 3, -1):
    op("aten.rot90.default", floats(3, 4, 5), k, [0, 2])
op("aten.rot90.default", floats(3, 4))

for target in ("aten.fft_fftshift.default", "aten.fft_ifftshift.default"):
    op(target, floats(4, 5))
    op(target, ints(3, 5), [1])
    op(target, floats(3, 4, 5), [0, -1])
    op(target, floats(1, 0))
    op(target, floats(5, 3), dynamic={0: {0: "n"}}, alternative=[floats(8, 3)])
