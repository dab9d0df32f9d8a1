import torch
from op_cases import floats, op

for name in ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"):
    op(f"aten.{name}.default", floats(2, 3), 0.5, False)
    op(f"aten.{name}.default", floats(2, 3), 0.0, True)
op("aten.dropout.default", floats(2, 3, dtype=torch.bfloat16), 0.5, False)
op("aten.dropout.default", floats(2, 3), 0.5, True, compare="shape")
op("aten.native_dropout.default", floats(2, 3), 0.5, False)
op("aten.native_dropout.default", floats(2, 3), 0.5, True, compare="shape")
