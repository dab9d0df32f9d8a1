import torch

from op_cases import floats, op


def complexes(*shape):
    return torch.complex(floats(*shape), floats(*shape).flip(0))


WINDOW = floats(16, low=0.2)
op("aten.istft.default", complexes(2, 9, 7), 16, 4, 16, WINDOW)
op("aten.istft.default", complexes(9, 7), 16)
op("aten.istft.default", complexes(2, 9, 7), 16, 4, 16, WINDOW, length=30)
op("aten.istft.default", complexes(2, 9, 7), 16, 4, 16, WINDOW, length=38)
op("aten.istft.default", complexes(2, 9, 7), 16, 4, 16, WINDOW, False)
op("aten.istft.default", complexes(2, 8, 7), 14, 3, 14, floats(14, low=0.2), normalized=True)
op("aten.istft.default", complexes(2, 16, 7), 16, 4, 10, floats(10, low=0.2), onesided=False)
op("aten.istft.default", complexes(2, 9, 7), 16, 3, 10)
op(
    "aten.istft.default",
    complexes(2, 9, 7),
    16,
    4,
    16,
    WINDOW,
    dynamic={0: {0: "batch", 2: "frames"}},
    alternative=[complexes(3, 9, 11), WINDOW],
)
