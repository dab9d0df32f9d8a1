import torch

from op_cases import bools, floats, fn

POSITIVE, NEGATIVE = torch.ones(2, 3), -torch.ones(2, 3)


def both(call, *tensors, **settings):
    """Takes one branch, then the other, with the same model."""
    fn(
        "higher_order.cond",
        call,
        POSITIVE,
        *tensors,
        alternative=[NEGATIVE, *tensors],
        dynamic=settings.pop("dynamic", {}),
        **settings,
    )


def by_sum(x):
    return torch.cond(x[0, 0] > 0, lambda x: x + 1, lambda x: x * 2, (x,))


def several_results(x, y):
    def when_true(x, y):
        return x + y, y[1] + 1, x[0, 1] * 2

    def when_false(x, y):
        return x - y, y[0] * 2, y[1, 1] + 1

    return torch.cond(x[0, 0] > 0, when_true, when_false, (x, y))


def nested(x):
    def inner(x):
        return torch.cond(x[0, 0] > 100, torch.sin, torch.cos, (x,))

    return torch.cond(x[0, 0] > 0, inner, lambda x: torch.relu(x), (x,))


def in_place_inside(x):
    def when_true(x):
        y = x.clone()
        y[0].add_(1)
        return y

    return torch.cond(x[0, 0] > 0, when_true, lambda x: x.neg(), (x,))


def outer_values(x, y):
    doubled = y * 2
    return torch.cond(x[0, 0] > 0, lambda x: x + doubled, lambda x: x - y, (x,)) + doubled


class Chosen(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)

    def forward(self, x):
        return torch.cond(x[0, 0] > 0, lambda x: self.first(x), lambda x: self.second(x), (x,))


torch.manual_seed(0)
both(by_sum)
both(several_results, floats(2, 3))
both(nested)
both(in_place_inside)
both(outer_values, floats(2, 3))
both(Chosen())
both(lambda x: torch.cond(x[0, 0] > 0, lambda x: x.clone(), lambda x: x.clone() + 0, (x,)))
fn(
    "higher_order.cond",
    lambda flag, x: torch.cond(flag, torch.sin, torch.cos, (x,)),
    torch.tensor(True),
    floats(3),
    alternative=[torch.tensor(False), floats(3)],
)
fn("higher_order.cond", lambda flag, x: torch.cond(flag[0], torch.sin, torch.cos, (x,)), bools(4), floats(3))

for condition in (lambda x: x.shape[0] > 4, lambda x: x[0, 0] > 1000):
    fn(
        "higher_order.cond",
        lambda x, condition=condition: torch.cond(
            condition(x), lambda x: x[: x.shape[0] // 2] * x.shape[0], lambda x: x[: x.shape[0] // 2] + 1, (x,)
        ),
        floats(6, 3),
        dynamic={0: {0: "n"}},
        alternative=[floats(3, 3)],
    )
