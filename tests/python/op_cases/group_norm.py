import torch

from op_cases import floats, op

OPSETS = (14, 18, 20, 21, 24)
for shape in ((2, 6), (2, 6, 5), (2, 6, 4, 5), (2, 6, 2, 3, 4)):
    for groups in (1, 3, 6):
        op("aten.group_norm.default", floats(*shape), groups, floats(6), floats(6).flip(0), opsets=OPSETS)
op("aten.group_norm.default", floats(2, 6, 5), 2, None, None, 1e-3, opsets=OPSETS)
op("aten.group_norm.default", floats(2, 6, 5), 6, None, None, 1e-3, opsets=OPSETS)
op(
    "aten.group_norm.default",
    floats(2, 6, 4, 5),
    2,
    floats(6),
    floats(6),
    opsets=OPSETS,
    dynamic={0: {0: "b", 2: "h", 3: "w"}},
    alternative=[floats(3, 6, 7, 3), floats(6), floats(6)],
)
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    op(
        "aten.group_norm.default",
        floats(2, 6, 5, dtype=dtype),
        2,
        floats(6, dtype=dtype),
        floats(6, dtype=dtype),
        opsets=OPSETS,
    )
op("aten.native_group_norm.default", floats(2, 6, 4, 5), floats(6), floats(6), 2, 6, 20, 3, 1e-5, opsets=OPSETS)
op("aten.native_group_norm.default", floats(2, 6, 4, 5), None, None, 2, 6, 20, 2, 1e-5, opsets=OPSETS)
op("aten.group_norm.default", floats(0, 4, 5), 2, floats(4), floats(4))
op("aten.native_group_norm.default", floats(0, 4, 5), None, None, 0, 4, 5, 2, 1e-5)
