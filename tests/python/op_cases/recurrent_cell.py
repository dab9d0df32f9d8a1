import torch

from op_cases import floats, op

for name, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        hidden = floats(2, 5, dtype=dtype)
        state = [hidden, hidden * 0.5] if name == "lstm" else hidden
        parameters = (
            floats(gates * 5, 3, dtype=dtype),
            floats(gates * 5, 5, dtype=dtype),
            floats(gates * 5, dtype=dtype),
            floats(gates * 5, dtype=dtype).flip(0),
        )
        op(f"aten.{name}_cell.default", floats(2, 3, dtype=dtype), state, *parameters)
    op(
        f"aten.{name}_cell.default",
        floats(2, 3),
        [floats(2, 5), floats(2, 5)] if name == "lstm" else floats(2, 5),
        floats(gates * 5, 3),
        floats(gates * 5, 5),
    )
