import torch

from op_cases import floats, op

for approximate in ("none", "tanh"):
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        op(
            "aten.gelu.default",
            floats(3, 7, dtype=dtype) * 3,
            approximate=approximate,
            rtol=1e-5 if dtype == torch.float64 else None,
        )
    op("aten.gelu.default", floats(), approximate=approximate)
    op("aten.gelu.default", floats(0, 3), approximate=approximate)
    op("aten.gelu.default", floats(2, 3), approximate=approximate, dynamic={0: {0: "b"}}, alternative=[floats(4, 3)])
