"""Modules written by hand whose width, depth, head, operators and class names can be chosen."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.query_key_value = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, hidden):
        query, key, value = self.query_key_value(hidden).chunk(3, dim=-1)
        weights = torch.softmax(query @ key.transpose(-1, -2) / hidden.shape[-1] ** 0.5, dim=-1)
        return self.out(weights @ value)


class FeedForward(nn.Module):
    def __init__(self, width: int, inner: int, activation: type[nn.Module]):
        super().__init__()
        self.up = nn.Linear(width, inner)
        self.activation = activation()
        self.down = nn.Linear(inner, width)

    def forward(self, hidden):
        return self.down(self.activation(self.up(hidden)))


class Block(nn.Module):
    """Attention and feed-forward under the names `attributes`; each is normalised before or after."""

    def __init__(self, width, inner, activation, norm_first, attributes):
        super().__init__()
        self.norm_first, self.attributes = norm_first, attributes
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.add_module(attributes[0], Attention(width))
        self.add_module(attributes[1], FeedForward(width, inner, activation))

    def forward(self, hidden):
        for norm, name in zip(self.norms, self.attributes, strict=True):
            part = getattr(self, name)
            hidden = hidden + part(norm(hidden)) if self.norm_first else norm(hidden + part(hidden))
        return hidden


class Blocks(nn.Module):
    """A transformer of the plainest kind."""

    def __init__(
        self,
        depth=4,
        inner=32,
        activation: type[nn.Module] = nn.GELU,
        norm_first=True,
        labels=3,
        attributes=("attention", "mlp"),
    ):
        super().__init__()
        self.blocks = nn.ModuleList(Block(16, inner, activation, norm_first, attributes) for _ in range(depth))
        self.head = nn.Linear(16, labels) if labels else nn.Identity()

    def forward(self, hidden):
        for block in self.blocks:
            hidden = block(hidden)
        return self.head(hidden)


class Recurrent(nn.Module):
    """A tagger of sequences."""

    def __init__(self, hidden=16, layers=1, bidirectional=True, labels=5):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, hidden, layers, batch_first=True, bidirectional=bidirectional)
        self.head = nn.Linear(hidden * (2 if bidirectional else 1), labels)

    def forward(self, words):
        states, _ = self.lstm(self.embedding(words))
        return self.head(states)


class Branch(nn.Module):
    def __init__(self, inner: int, activation: type[nn.Module]):
        super().__init__()
        self.first = nn.Linear(16, inner)
        self.activation = activation()
        self.second = nn.Linear(inner, 16)

    def forward(self, x):
        return x + self.second(self.activation(self.first(x)))


class Residual(nn.Module):
    """Two matrices a branch; `unused` adds a module that is never called."""

    def __init__(self, depth=2, inner=24, activation: type[nn.Module] = nn.ReLU, labels=3, unused=False):
        super().__init__()
        self.branches = nn.ModuleList(Branch(inner, activation) for _ in range(depth))
        self.head = nn.Linear(16, labels)
        self.unused = Branch(inner, activation) if unused else None

    def forward(self, x):
        for branch in self.branches:
            x = branch(x)
        return self.head(x)


class Pixels:
    """Thinner copies of networks of pixels."""

    @staticmethod
    def thin(model: nn.Module, divisor: int) -> nn.Module:
        """Every convolution, norm and linear layer with the number of its channels divided; colours stay."""
        for module in model.modules():
            for name, child in module.named_children():
                if isinstance(child, nn.Conv2d):
                    inner = child.in_channels if child.in_channels == 3 else child.in_channels // divisor
                    thinner = nn.Conv2d(
                        inner,
                        child.out_channels // divisor,
                        child.kernel_size,
                        child.stride,
                        child.padding,
                        bias=child.bias is not None,
                    )
                elif isinstance(child, nn.BatchNorm2d):
                    thinner = nn.BatchNorm2d(child.num_features // divisor)
                elif isinstance(child, nn.Linear):
                    thinner = nn.Linear(child.in_features // divisor, child.out_features)
                else:
                    continue
                setattr(module, name, thinner)
        return model


def renamed(built):
    """The same model whose classes outside torch.nn have other names."""
    model, args, kwargs = built
    classes = {}
    for module in model.modules():
        kind = type(module)
        if not kind.__module__.startswith("torch.nn"):
            if kind not in classes:
                classes[kind] = type(f"Other{kind.__name__}", (kind,), {"__module__": "other_package.models"})
            module.__class__ = classes[kind]
    return model, args, kwargs
