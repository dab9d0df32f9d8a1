"""Small models, each for one thing that a trace must get right."""

from dataclasses import dataclass

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, size: int = 4):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Repeated(nn.Module):
    """One instance under two names that is called twice, and one that is never called."""

    def __init__(self):
        super().__init__()
        self.block = Block()
        self.again = self.block
        self.unused = Block()

    def forward(self, x):
        return self.again(self.block(x))


class Tied(nn.Module):
    """An embedding whose weight is the output layer's, too; a tensor that is no buffer."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.head = nn.Linear(4, 10, bias=False)
        self.head.weight = self.embedding.weight
        self.scale = torch.tensor(2.0)

    def forward(self, tokens):
        return self.head(self.embedding(tokens)) * self.scale


class Writing(nn.Module):
    """Writes to a buffer and to its input, draws random numbers, and counts its calls."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("seen", torch.zeros(4))
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        self.norm.train()
        y = self.norm(x)
        self.seen += y.sum(0)
        x.mul_(2)
        return y + torch.rand_like(y)


class Failing(nn.Module):
    """Raises `error` in a submodule."""

    def __init__(self, error: BaseException):
        super().__init__()
        self.inner = Raising(error)

    def forward(self, x):
        return self.inner(x + 1)


class Raising(nn.Module):
    def __init__(self, error: BaseException):
        super().__init__()
        self.error = error

    def forward(self, x):
        raise self.error


@dataclass
class Result:
    hidden: torch.Tensor
    pairs: dict


class Structured(nn.Module):
    """Nested inputs by keyword, a dataclass and a dict as outputs."""

    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x, *, pair, flag=True):
        hidden = self.block(x) + pair[0]
        return Result(hidden, {"sum": hidden + pair[1]["y"] if flag else hidden})
