import torch

from op_cases import floats, op


def complexes(*shape):
    return torch.complex(floats(*shape), floats(*shape).flip(0))


for norm in (None, "ortho", "forward"):
    op("aten.fft_fft.default", complexes(3, 8), None, -1, norm)
    op("aten.fft_ifft.default", complexes(3, 6), None, 0, norm)
    op("aten.fft_rfft.default", floats(3, 7), None, -1, norm)
    op("aten.fft_irfft.default", complexes(3, 5), None, -1, norm)
op("aten.fft_fft.default", floats(3, 8))
op("aten.fft_fft.default", floats(3, 8), 5)
op("aten.fft_fft.default", floats(3, 8), 11, 0)
op("aten.fft_rfft.default", floats(3, 8), 12)
op("aten.fft_irfft.default", complexes(3, 5), 7)
op("aten.fft_fft2.default", floats(2, 4, 6))
op("aten.fft_ifft2.default", complexes(2, 4, 6))
op("aten.fft_rfft2.default", floats(2, 4, 6))
op("aten.fft_irfft2.default", complexes(2, 4, 4))
op("aten.fft_fftn.default", floats(2, 4, 6), None, [1, 2])
op("aten.fft_fftn.default", floats(2, 3))
op("aten.fft_ifftn.default", complexes(2, 4, 6), None, [0, 2])
op("aten.fft_rfftn.default", floats(2, 4, 6))
op("aten.fft_irfftn.default", complexes(2, 4, 4), [4, 5])
op("aten._fft_r2c.default", floats(3, 8), [1], 0, True)
op("aten._fft_r2c.default", floats(3, 8), [1], 1, False)
op("aten._fft_c2c.default", complexes(3, 8), [0, 1], 0, True)
op("aten._fft_c2c.default", complexes(3, 8), [1], 2, False)
op("aten._fft_c2r.default", complexes(3, 5), [1], 2, 8)

for norm in (None, "forward", "ortho"):
    op("aten.fft_hfft.default", complexes(3, 5), None, -1, norm)
    op("aten.fft_ihfft.default", floats(3, 7), None, -1, norm)
op("aten.fft_hfft.default", floats(3, 5), 7)
op("aten.fft_hfft2.default", complexes(2, 4, 4))
op("aten.fft_hfftn.default", complexes(2, 4, 4), [4, 5])
op("aten.fft_hfftn.default", complexes(3, 4), None, [0, 1], "ortho")
op("aten.fft_ihfft.default", floats(3, 8), 5, 1)
op("aten.fft_ihfft2.default", floats(2, 4, 6))
op("aten.fft_ihfftn.default", floats(2, 4, 6))
op("aten.fft_ihfftn.default", floats(2, 4, 6), [3, 4], [0, 2], "forward")
