"""Operators of a library that the registry never knows, each of a kind that torch treats in its own way."""

import torch
from torch.nn import functional as F

# Kept, or the operators would go with it.
LIBRARY = torch.library.Library("mine", "DEF")


def _define(schema: str, key: str, kernel) -> None:
    LIBRARY.define(schema)
    LIBRARY.impl(schema.partition("(")[0], kernel, key)


# Made of others: eager PyTorch runs what is traced. The inner ones have rows but for `inner`.
_define("inner(Tensor x) -> Tensor", "CompositeImplicitAutograd", lambda x: F.gelu(x) * 2)
_define(
    "block(Tensor x, Tensor weight) -> Tensor",
    "CompositeImplicitAutograd",
    lambda x, weight: torch.ops.mine.inner(F.layer_norm(F.linear(x, weight), weight.shape[:1])),
)
_define(
    "with_constant(Tensor x) -> Tensor", "CompositeImplicitAutograd", lambda x: x + torch.tensor([1.0, 2.0, 3.0, 4.0])
)
_define("itself(Tensor(a) x) -> Tensor(a)", "CompositeImplicitAutograd", lambda x: x)
_define("same_batch(Tensor x) -> Tensor", "CompositeImplicitAutograd", lambda x: x + 1 if x.shape[0] > 100 else x - 1)
_define(
    "rows(Tensor x, SymInt count, Tensor unread) -> Tensor",
    "CompositeImplicitAutograd",
    lambda x, n, _: x[:1].expand(n, -1) + n,
)
_define("table(int width) -> Tensor", "CompositeImplicitAutograd", lambda width: torch.arange(width).float() / width)
_define("check(Tensor x) -> ()", "CompositeImplicitAutograd", lambda x: None)
# A kernel for all devices that others are traced through.
_define("halves(Tensor x) -> (Tensor, Tensor)", "CompositeExplicitAutograd", lambda x: (x[:, :2].sin(), x[:, 2:].cos()))
# A kernel of its own, and a decomposition for compilers that says nothing of memory.
_define("plain(Tensor x) -> Tensor", "CPU", lambda x: x.clone())
LIBRARY.impl("plain", torch.empty_like, "Meta")
# With an in-place variant.
_define("bump(Tensor x, float by) -> Tensor", "CompositeExplicitAutograd", lambda x, by: x * by + 1)
_define("bump_(Tensor(a!) x, float by) -> Tensor(a!)", "CompositeExplicitAutograd", lambda x, by: x.mul_(by).add_(1))
_define("twice_(Tensor(a!) x) -> Tensor(a!)", "CompositeImplicitAutograd", lambda x: x.mul_(2))
# Nothing but a kernel.
_define("opaque(Tensor x) -> Tensor", "CPU", lambda x: x.clone())
LIBRARY.impl("opaque", torch.empty_like, "Meta")
_define("around_opaque(Tensor x) -> Tensor", "CompositeImplicitAutograd", lambda x: torch.ops.mine.opaque(x) + 1)
