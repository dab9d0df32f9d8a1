"""Regions that are captured as a graph inside a node, and are inlined."""

import torch
from torch._higher_order_ops.hints_wrap import hints_wrapper

from op_cases import floats, fn


def without_gradients(x):
    y = x + 1
    with torch.no_grad():
        y.add_(2)
        z = y * 3
    return z + y, y


def nested(x):
    with torch.no_grad():
        y = x * 2
        with torch.enable_grad():
            y = y + 1
        return y * 3, x


class UnderAutocast(torch.nn.Module):
    def __init__(self, **settings):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.settings = settings

    def forward(self, x):
        with torch.autocast("cpu", **self.settings):
            y = self.linear(x)
            z = torch.matmul(y, y.transpose(0, 1)).softmax(-1)
            y = torch.cat([y, x])
        return y.float(), z.float()


def hinted(x, y):
    return hints_wrapper(lambda x, y: torch.relu(x) + y, (x + y, y), {}, hints={"fast": True})


torch.manual_seed(0)
with torch.enable_grad():
    fn("aten.add_.Tensor", without_gradients, floats(3))
    fn("aten.mul.Tensor", nested, floats(3), dynamic={0: {0: "n"}}, alternative=[floats(5)])
fn("aten.linear.default", UnderAutocast(dtype=torch.bfloat16), floats(3, 4), rtol=2e-2)
fn("aten.linear.default", UnderAutocast(enabled=False), floats(3, 4))
fn("aten.relu.default", hinted, floats(3), floats(3))
