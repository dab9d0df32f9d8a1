import torch

from op_cases import floats, op

OPSETS = (14, 17, 20, 24)
for target in ("aten.layer_norm.default", "aten.native_layer_norm.default"):
    op(target, floats(2, 3, 8), [8], floats(8), floats(8), 1e-5, opsets=OPSETS)
    op(target, floats(2, 3, 8), [3, 8], floats(3, 8), floats(3, 8), 1e-3, opsets=OPSETS)
    op(target, floats(2, 3, 8), [8], None, None, 1e-5, opsets=OPSETS)
    op(target, floats(2, 3, 8), [8], floats(8), None, 1e-5, opsets=OPSETS)
    op(target, floats(2, 3, 8), [8], None, floats(8), 1e-5, opsets=OPSETS)
    op(target, floats(2, 3, 8), [2, 3, 8], None, None, 1e-5, opsets=OPSETS)
    op(
        target,
        floats(2, 3, 8),
        [8],
        floats(8),
        floats(8),
        1e-5,
        dynamic={0: {0: "b", 1: "s"}},
        alternative=[floats(3, 5, 8), floats(8), floats(8)],
        opsets=OPSETS,
    )
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        op(
            target,
            floats(2, 3, 8, dtype=dtype),
            [8],
            floats(8, dtype=dtype),
            floats(8, dtype=dtype),
            1e-5,
            opsets=OPSETS,
        )
op("aten.layer_norm.default", floats(2, 3, 8, dtype=torch.bfloat16), [8], floats(8), floats(8), opsets=OPSETS)
op("aten.layer_norm.default", floats(0, 8), [8], floats(8), floats(8), opsets=OPSETS)
