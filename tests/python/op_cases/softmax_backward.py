import torch

from op_cases import floats, op

for dtype in (torch.float32, torch.float16):
    op(
        "aten._softmax_backward_data.default",
        floats(3, 4, dtype=dtype),
        floats(3, 4, low=0.0).softmax(-1).to(dtype),
        1,
        dtype,
    )
    op(
        "aten._log_softmax_backward_data.default",
        floats(3, 4, dtype=dtype),
        floats(3, 4, low=0.0).log_softmax(0).to(dtype),
        0,
        dtype,
    )
op("aten._softmax_backward_data.default", floats(), floats(), 0, torch.float32)
op(
    "aten._softmax_backward_data.default",
    floats(3, 4),
    floats(3, 4, low=0.0),
    -1,
    torch.float32,
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[floats(5, 4), floats(5, 4, low=0.0)],
)
op(
    "aten._log_softmax_backward_data.default",
    floats(3, 4),
    floats(3, 4, low=0.0),
    -1,
    torch.float32,
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[floats(5, 4), floats(5, 4, low=0.0)],
)
