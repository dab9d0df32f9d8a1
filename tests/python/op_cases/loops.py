import torch
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

from op_cases import floats, fn


def count_to(n):
    def call(x):
        return while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 2), (torch.zeros((), dtype=torch.int64), x))

    return call


def until_large(x):
    def goes_on(x, rounds):
        return x[0, 0].abs() < 100

    def body(x, rounds):
        grown = x.clone()
        grown.mul_(3)
        return grown, rounds + 1

    return while_loop(goes_on, body, (x, torch.zeros(1)))


def reads_outer(x, step):
    def body(i, x):
        return i + 1, x + step

    return while_loop(lambda i, x: i < 3, body, (torch.zeros((), dtype=torch.int64), x))


def rolled(x):
    def body(i, x):
        return i + 1, torch.cat([x[1:], x[:1] * 2])

    return while_loop(lambda i, x: i < 4, body, (torch.zeros((), dtype=torch.int64), x))


def counts_with_a_size(x):
    return while_loop(lambda i, x: i < x.shape[0], lambda i, x: (i + 1, x * 2), (x.shape[0] - 3, x))


fn("higher_order.while_loop", count_to(3), floats(2, 3))
fn("higher_order.while_loop", count_to(0), floats(2, 3))
fn("higher_order.while_loop", until_large, floats(2, 3), alternative=[floats(2, 3) * 200])
fn("higher_order.while_loop", reads_outer, floats(2, 3), floats(3))
fn("higher_order.while_loop", rolled, floats(5, 3), dynamic={0: {0: "n"}}, alternative=[floats(8, 3)])
fn("higher_order.while_loop", counts_with_a_size, floats(5, 3), dynamic={0: {0: "n"}}, alternative=[floats(8, 3)])


class Cell(torch.nn.Module):
    def __init__(self, **settings):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.settings = settings

    def forward(self, x, state):
        def step(state, x):
            state = torch.tanh(self.linear(state) + x)
            return state, state * 2

        return scan(step, state, x, **self.settings)


torch.manual_seed(0)
fn("higher_order.scan", lambda x, state: scan(lambda s, x: (s + x, s * x), state, x), floats(5, 3), floats(3))
fn("higher_order.scan", Cell(), floats(5, 2, 3), floats(2, 3))
fn("higher_order.scan", Cell(dim=1, reverse=True), floats(2, 5, 3), floats(2, 3))
fn(
    "higher_order.scan",
    Cell(),
    floats(5, 2, 3),
    floats(2, 3),
    dynamic={0: {0: "t"}},
    alternative=[floats(7, 2, 3), floats(2, 3)],
)
fn(
    "higher_order.scan",
    Cell(),
    floats(5, 4, 3),
    floats(4, 3),
    dynamic={0: {1: "b"}, 1: {0: "b"}},
    alternative=[floats(5, 6, 3), floats(6, 3)],
)
fn("higher_order.map_impl", lambda x, y: map_over(lambda x, y: x * y + 1, x, y), floats(4, 2, 3), floats(3))
fn(
    "higher_order.map_impl",
    lambda x, y: map_over(lambda x, y: x * y[0], x, y),
    floats(4, 3),
    floats(3),
    dynamic={0: {0: "n"}},
    alternative=[floats(6, 3), floats(3)],
)
