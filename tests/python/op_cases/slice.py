import torch

from op_cases import floats, fn, op

for target in ("aten.slice.Tensor", "aten.slice_copy.Tensor"):
    op(target, floats(6, 5))
    op(target, floats(6, 5), 0, 1, 4)
    op(target, floats(6, 5), -1, -3, 9223372036854775807)
    op(target, floats(6, 5), 1, 0, -1)
    op(target, floats(6, 5), 0, 1, 6, 2)
    op(target, floats(6, 5), 0, 4, 2)
op("aten.slice.Tensor", torch.complex(floats(4, 3), floats(4, 3)), -1, 1)
fn(
    "aten.slice.Tensor",
    lambda x, y: x[: y.shape[0], y.shape[0] // 2 :],
    floats(6, 5),
    floats(4),
    dynamic={1: {0: "n"}},
    alternative=[floats(6, 5), floats(3)],
)
for target in ("aten.narrow.default", "aten.narrow_copy.default"):
    op(target, floats(6, 5), 0, 2, 3)
    op(target, floats(6, 5), -1, -2, 2)
for target in ("aten.select.int", "aten.select_copy.int"):
    op(target, floats(6, 5), 0, 2)
    op(target, floats(6, 5), -1, -1)
    op(target, floats(3), 0, 1)
op("aten.select.int", torch.complex(floats(4, 3), floats(4, 3)), -1, 1)
fn(
    "aten.select.int",
    lambda x, y: x[y.shape[0] - 1],
    floats(6, 5),
    floats(4),
    dynamic={1: {0: "n"}},
    alternative=[floats(6, 5), floats(3)],
)
