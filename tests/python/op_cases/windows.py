import torch

from op_cases import op

for name in ("hann", "hamming", "blackman", "bartlett", "kaiser"):
    for length in (0, 1, 2, 9, 400):
        op(f"aten.{name}_window.default", length, opsets=(14, 20))
    op(f"aten.{name}_window.periodic", 8, False)
    op(f"aten.{name}_window.periodic", 9, True, dtype=torch.float64)
    op(f"aten.{name}_window.default", 9, dtype=torch.float16)
op("aten.hamming_window.periodic_alpha", 8, True, 0.6)
op("aten.hamming_window.periodic_alpha_beta", 8, False, 0.6, 0.3)
op("aten.kaiser_window.beta", 8, False, 5.0)
