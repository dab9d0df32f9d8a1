from op_cases import floats, op

op("aten.stft.default", floats(2, 40), 16, 4, 16, floats(16, low=0.1), return_complex=False)
op("aten.stft.default", floats(40), 16, None, None, None, return_complex=True)
op(
    "aten.stft.default",
    floats(2, 41),
    15,
    5,
    9,
    floats(9, low=0.1),
    normalized=True,
    onesided=False,
    return_complex=True,
)
op("aten.stft.default", floats(2, 41), 15, 5, 8, None, return_complex=True)
op(
    "aten.stft.default",
    floats(2, 40),
    16,
    4,
    16,
    floats(16, low=0.1),
    return_complex=True,
    dynamic={0: {0: "batch", 1: "time"}},
    alternative=[floats(3, 61), floats(16, low=0.1)],
)
