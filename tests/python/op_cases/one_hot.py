import torch

from op_cases import fn, ints

fn("aten.one_hot.default", lambda x: torch.nn.functional.one_hot(x, 5), ints(4, low=0, high=5))
fn(
    "aten.one_hot.default",
    lambda x: torch.nn.functional.one_hot(x, 5),
    ints(2, 3, low=0, high=5),
    dynamic={0: {0: "n"}},
    alternative=[ints(4, 3, low=0, high=5)],
)
fn("aten.one_hot.default", lambda x: torch.nn.functional.one_hot(x, 3), ints(low=0, high=3))
