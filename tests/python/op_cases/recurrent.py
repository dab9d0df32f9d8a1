import torch

from op_cases import floats, op


def weights(gates, size, hidden, layers=1, directions=1, biases=True, dtype=torch.float32, projection=None):
    """Parameters as `torch.nn.LSTM` lists them."""
    parameters = []
    shown = projection or hidden
    for layer in range(layers):
        inside = size if layer == 0 else shown * directions
        for direction in range(directions):
            factor = 1 - 0.3 * direction
            parameters += [
                floats(gates * hidden, inside, dtype=dtype) * factor,
                floats(gates * hidden, shown, dtype=dtype) * factor,
            ]
            if biases:
                parameters += [
                    floats(gates * hidden, dtype=dtype) * factor,
                    floats(gates * hidden, dtype=dtype).flip(0),
                ]
            if projection:
                parameters += [floats(projection, hidden, dtype=dtype).flip(1) * factor]
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
    # PyTorch rounds 16-bit floats after each node of each step, onnxruntime computes in float32.
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        op(
            target,
            x.to(dtype),
            state(1, 1, 2, dtype),
            weights(gates, 3, 5, dtype=dtype),
            True,
            1,
            0.0,
            False,
            False,
            False,
            rtol={torch.float16: 2e-2, torch.float64: 1e-5, torch.bfloat16: 5e-2}[dtype],
        )
    # Other batches and lengths; one step is the shortest sequence that PyTorch takes.
    states = 2 if name == "lstm" else 1
    for batch_first, layers, directions, (b, t) in (
        (True, 2, 2, (3, 9)),
        (False, 1, 1, (3, 1)),
        (False, 3, 2, (1, 8)),
        (True, 3, 1, (5, 1)),
    ):

        def sequences(batch, time):
            return floats(batch, time, 3) if batch_first else floats(time, batch, 3)

        other = state(layers, directions, b)
        parameters = weights(gates, 3, 5, layers, directions)
        op(
            target,
            sequences(2, 6),
            state(layers, directions, 2),
            parameters,
            True,
            layers,
            0.0,
            False,
            directions == 2,
            batch_first,
            dynamic={0: {0: "b", 1: "t"}} | {i + 1: {1: "b"} for i in range(states)},
            alternative=[sequences(b, t), *(other if name == "lstm" else [other]), *parameters],
        )


def projected_state(layers, directions, batch, dtype=torch.float32):
    return [
        floats(layers * directions, batch, 2, dtype=dtype),
        floats(layers * directions, batch, 5, dtype=dtype) * 0.5,
    ]


target, x = "aten.lstm.input", floats(6, 2, 3)
for biases, layers, directions, batch_first in ((True, 1, 1, False), (False, 2, 2, False), (True, 2, 2, True)):
    parameters = weights(4, 3, 5, layers, directions, biases, projection=2)
    given = x.transpose(0, 1).contiguous() if batch_first else x
    op(
        target,
        given,
        projected_state(layers, directions, 2),
        parameters,
        biases,
        layers,
        0.0,
        False,
        directions == 2,
        batch_first,
    )
    op(
        target,
        given,
        projected_state(layers, directions, 2),
        parameters,
        biases,
        layers,
        0.0,
        False,
        directions == 2,
        batch_first,
        dynamic={0: {0: "b", 1: "t"}, 1: {1: "b"}, 2: {1: "b"}},
        alternative=[
            floats(3, 9, 3) if batch_first else floats(9, 3, 3),
            *projected_state(layers, directions, 3),
            *parameters,
        ],
    )
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    op(
        target,
        x.to(dtype),
        projected_state(1, 1, 2, dtype),
        weights(4, 3, 5, dtype=dtype, projection=2),
        True,
        1,
        0.0,
        False,
        False,
        False,
        **({"rtol": 5e-2} if dtype == torch.bfloat16 else {}),
    )
