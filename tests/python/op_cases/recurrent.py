import torch
from op_cases import floats, op


def weights(gates, size, hidden, layers=1, directions=1, biases=True, dtype=torch.float32):
    """Parameters as `torch.nn.LSTM` lists them."""
    parameters = []
    for layer in range(layers):
        inside = size if layer == 0 else hidden * directions
        for direction in range(directions):
            factor = 1 - 0.3 * direction
            parameters += [floats(gates * hidden, inside, dtype=dtype) * factor,
                           floats(gates * hidden, hidden, dtype=dtype) * factor]
            if biases:
                parameters += [floats(gates * hidden, dtype=dtype) * factor, floats(gates * hidden, dtype=dtype).flip(0)]
    return parameters


for name, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
    def state(layers, directions, batch, dtype=torch.float32):
        hidden = floats(layers * directions, batch, 5, dtype=dtype)
        return [hidden, hidden * 0.5] if name == "lstm" else hidden

    target = f"aten.{name}.input"
    x = floats(6, 2, 3)
    op(target, x, state(1, 1, 2), weights(gates, 3, 5), True, 1, 0.0, False, False, False)
    op(target, x, state(1, 1, 2), weights(gates, 3, 5, biases=False), False, 1, 0.0, False, False, False)
    op(target, x, state(2, 1, 2), weights(gates, 3, 5, 2), True, 2, 0.5, False, False, False)
    op(target, x, state(2, 2, 2), weights(gates, 3, 5, 2, 2), True, 2, 0.0, False, True, False)
    op(target, floats(2, 6, 3), state(1, 1, 2), weights(gates, 3, 5), True, 1, 0.0, False, False, True)
    op(target, floats(2, 6, 3), state(2, 2, 2), weights(gates, 3, 5, 2, 2), True, 2, 0.0, False, True, True)
    for dtype in (torch.bfloat16, torch.float64):
        op(target, x.to(dtype), state(1, 1, 2, dtype), weights(gates, 3, 5, dtype=dtype), True, 1, 0.0, False, False,
           False, rtol=1e-5 if dtype == torch.float64 else 5e-2)
    hidden = state(2, 2, 3)
    hidden = list(hidden) if name == "lstm" else [hidden]
    op(target, floats(2, 6, 3), state(2, 2, 2), weights(gates, 3, 5, 2, 2), True, 2, 0.0, False, True, True,
       dynamic={0: {0: "b"}} | {i + 1: {1: "b"} for i in range(len(hidden))},
       alternative=[floats(3, 6, 3), *hidden, *weights(gates, 3, 5, 2, 2)])
