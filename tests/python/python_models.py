"""Small models for tests of the Python package, each with something that an export must not stumble over."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int = 8):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(torch.relu(self.linear(x)))


class Stack(nn.Module):
    """Two blocks, of which the first is called twice."""

    def __init__(self):
        super().__init__()
        self.first = Block()
        self.second = Block()

    def forward(self, x):
        return self.second(self.first(self.first(x)))


class Normed(nn.Module):
    """Statistics and random numbers, which a capture must leave alone."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.norm(self.conv(x)))


class Tied(nn.Module):
    """One weight under two names, too large to be written in a second layout."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(600, 16)
        self.head = nn.Linear(16, 600, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        return self.head(self.embed(tokens))


class Shared(nn.Module):
    """One module under two names."""

    def __init__(self):
        super().__init__()
        self.left = Block()
        self.right = self.left

    def forward(self, x):
        return self.left(x) + self.right(x * 2)


@dataclass
class Scores:
    scores: torch.Tensor
    hidden: torch.Tensor


torch.export.register_dataclass(Scores, serialized_type_name="python_models.Scores")


class Pair(NamedTuple):
    small: torch.Tensor
    large: torch.Tensor


class DictOutput(Block):
    def forward(self, x):
        return {"scores": super().forward(x), "twice": x * 2}


class DataclassOutput(Block):
    def forward(self, x):
        hidden = super().forward(x)
        return Scores(hidden.softmax(-1), hidden)


class Keywords(Block):
    def forward(self, x, *, scale=None, shift=None):
        out = super().forward(x)
        out = out if scale is None else out * scale
        return out if shift is None else out + shift


class NestedInput(Block):
    def forward(self, parts, more):
        (a, b), c = parts
        return super().forward(a + b) * c + more["bias"]


class Half(nn.Module):
    def __init__(self, dtype: torch.dtype):
        super().__init__()
        self.linear = nn.Linear(8, 8).to(dtype)

    def forward(self, x):
        return self.linear(x)


class NonContiguous(nn.Module):
    """A transposed parameter, and a slice of another."""

    def __init__(self):
        super().__init__()
        self.turned = nn.Parameter(torch.randn(24, 16).t())
        base = torch.randn(40, 24)
        self.register_buffer("part", base[3:35:2, ::3])

    def forward(self, x):
        return x @ self.turned[:, :16] + (x @ self.part).sum(-1, keepdim=True)


class Raises(Block):
    def forward(self, x):
        self.seen = x.shape
        torch.manual_seed(3)
        torch.set_grad_enabled(False)
        super().forward(x)
        raise RuntimeError("forward does not like this")


class Unsupported(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        return torch.hash_tensor(self.inner(x)), torch.hash_tensor(x)


class Sum(nn.Module):
    def forward(self, x, y):
        return torch.cat([x, y], 1), x.sum(1)


def image(size: int = 8) -> torch.Tensor:
    return torch.randn(2, 3, size, size)


# Name, model, positional and keyword arguments.
CASES = [
    ("called_twice", Stack, (torch.randn(2, 8),), {}),
    ("shared_module", Shared, (torch.randn(2, 8),), {}),
    ("tied", Tied, (torch.randint(0, 64, (2, 5)),), {}),
    ("dict_output", DictOutput, (torch.randn(2, 8),), {}),
    ("dataclass_output", DataclassOutput, (torch.randn(2, 8),), {}),
    ("keywords", Keywords, (torch.randn(2, 8),), {"shift": torch.randn(8)}),
    (
        "nested_tuples",
        NestedInput,
        (((torch.randn(2, 8), torch.randn(2, 8)), torch.randn(8)), {"bias": torch.randn(8)}),
        {},
    ),
    ("half", lambda: Half(torch.float16), (torch.randn(2, 8).half(),), {}),
    ("bfloat16", lambda: Half(torch.bfloat16), (torch.randn(2, 8).bfloat16(),), {}),
    ("non_contiguous", NonContiguous, (torch.randn(2, 16),), {}),
]
