import torch

from op_cases import bools, floats, op

for name in ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"):
    op(f"aten.{name}.default", floats(2, 3), 0.5, False)
    op(f"aten.{name}.default", floats(2, 3), 0.0, True)
op("aten.dropout.default", floats(2, 3, dtype=torch.bfloat16), 0.5, False)
op("aten.dropout.default", floats(2, 3), 0.5, True, compare="shape")
op("aten.native_dropout.default", floats(2, 3), 0.5, False)
op("aten.native_dropout.default", floats(2, 3), 0.5, True, compare="shape")
for name in ("feature_dropout", "alpha_dropout", "feature_alpha_dropout"):
    op(f"aten.{name}.default", floats(2, 3, 4, 5), 0.5, True, compare="shape")
    op(f"aten.{name}.default", floats(2, 3, 4, dtype=torch.float16), 0.3, True, compare="shape")
    op(f"aten.{name}.default", floats(2, 3, 4), 1.0, True)
    op(
        f"aten.{name}.default",
        floats(2, 3, 4),
        0.5,
        True,
        compare="shape",
        dynamic={0: {0: "n"}},
        alternative=[floats(5, 3, 4)],
    )
op("aten.dropout.default", floats(2, 3), 1.0, True)
op("aten.native_dropout.default", floats(2, 3), 1.0, True)
for dtype in (torch.float32, torch.float16):
    op("aten.native_dropout_backward.default", floats(3, 4, dtype=dtype), bools(3, 4), 1.25)
op(
    "aten.native_dropout_backward.default",
    floats(3, 4),
    bools(3, 4),
    1.25,
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[floats(5, 4), bools(5, 4)],
)
