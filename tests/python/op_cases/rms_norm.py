import torch

from op_cases import floats, op

OPSETS = (14, 18, 20, 23, 24)
op("aten.rms_norm.default", floats(2, 3, 8), [8], floats(8), 1e-5, opsets=OPSETS)
op("aten.rms_norm.default", floats(2, 3, 8) * 1e-4, [8], floats(8), opsets=OPSETS)
op("aten.rms_norm.default", floats(2, 3, 8), [3, 8], floats(3, 8), 1e-3, opsets=OPSETS)
op("aten.rms_norm.default", floats(2, 3, 8), [8], None, 1e-5, opsets=OPSETS)
op(
    "aten.rms_norm.default",
    floats(2, 3, 8),
    [8],
    floats(8),
    1e-5,
    dynamic={0: {0: "b", 1: "s"}},
    alternative=[floats(3, 5, 8), floats(8)],
    opsets=OPSETS,
)
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    op("aten.rms_norm.default", floats(2, 3, 8, dtype=dtype), [8], floats(8, dtype=dtype), 1e-5, opsets=OPSETS)
    op("aten.rms_norm.default", floats(2, 3, 8, dtype=dtype) * 1e-2, [8], floats(8, dtype=dtype), opsets=OPSETS)
op("aten._fused_rms_norm.default", floats(2, 3, 8), [8], floats(8), 1e-5, opsets=OPSETS)
op("aten._fused_rms_norm.default", floats(2, 3, 8), [8], None, 1e-5, opsets=OPSETS)
