"""Numbers at the edge: zeros with a sign, NaN, infinities, the ends of integer types, and empty tensors.

The signs of zeros are compared, too. Where onnxruntime gives other numbers than PyTorch, `docs/numbers.md` says so.
"""

import math

import torch
from torch.nn import functional

from op_cases import floats, fn

INF, NAN = math.inf, math.nan
EDGES = torch.tensor([0.0, -0.0, NAN, INF, -INF, 1.5, -1.5, 0.5, -0.5, 2.5, -2.5, 3.0, -3.0])
FIRST, SECOND = EDGES.repeat_interleave(len(EDGES)), EDGES.repeat(len(EDGES))
ROWS = torch.tensor(
    [
        [0.0, -0.0, 0.0],
        [NAN, 1.0, 2.0],
        [1.0, NAN, 2.0],
        [1.0, 2.0, NAN],
        [INF, -INF, 0.0],
        [-INF, -INF, -INF],
        [INF, INF, INF],
        [NAN, NAN, NAN],
        [-INF, NAN, INF],
        [-1.0, -0.0, 0.0],
    ]
)
KNOWN = ROWS[[0, 4, 5, 6, 9]]
INTEGERS = torch.tensor([-7, 7, -8, 8, 0, -1, 1, 5, -5, 127, -128, 2**31 - 1, -(2**31)])
DIVISORS = torch.tensor([-3, -2, 1, 2, 3, 7])


def edge(target, call, *tensors, **settings):
    fn(target, call, *tensors, **({"opsets": (20,), "signs": True} | settings))


# ---- one number

for name in [
    "abs",
    "neg",
    "relu",
    "round",
    "floor",
    "ceil",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "exp",
    "log",
    "log2",
    "sin",
    "tanh",
    "sigmoid",
    "erf",
    "square",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "nan_to_num",
    "logical_not",
]:
    edge(f"aten.{name}.default", getattr(torch, name), EDGES)
for name in ["relu6", "hardtanh", "leaky_relu", "elu", "silu", "softplus", "hardswish", "hardsigmoid", "hardshrink"]:
    edge(f"aten.{name}.default", getattr(functional, name), EDGES)
for bounds in ((-1, 1), (0, None), (2, 1), (NAN, None), (NAN, 1), (-1, NAN)):
    edge("aten.clamp.default", lambda x, bounds=bounds: x.clamp(*bounds), EDGES)
for exponent in (2, 3, -1, 0):
    edge("aten.pow.Tensor_Scalar", lambda x, exponent=exponent: x.pow(exponent), EDGES)
edge("aten.remainder.Scalar", lambda x: torch.remainder(x, 2), EDGES)
edge("aten.fmod.Scalar", lambda x: torch.fmod(x, 2), EDGES)
edge("aten.where.self", lambda x: torch.where(x > 0, x, x - 1), EDGES)
edge("aten.where.self", lambda x: torch.where(x.bool(), x * 2, x + 1), EDGES)
edge("aten.masked_fill.Scalar", lambda x: x.masked_fill(x != x, 1.0), EDGES[2:])
edge("aten.isin.Tensor_Tensor", lambda x: torch.isin(x, torch.tensor([0.0, NAN, INF])), EDGES)

# ---- two numbers

for name in [
    "maximum",
    "minimum",
    "remainder",
    "fmod",
    "pow",
    "add",
    "sub",
    "mul",
    "div",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "logaddexp",
    "xlogy",
    "isclose",
]:
    overload = {"maximum": "default", "minimum": "default", "pow": "Tensor_Tensor", "logaddexp": "default"}
    overload = overload | {"isclose": "default"}
    edge(f"aten.{name}.{overload.get(name, 'Tensor')}", getattr(torch, name), FIRST, SECOND)
edge("aten.clamp.Tensor", lambda x, y: x.clamp(y, y + 1), FIRST, SECOND)
edge("aten.clamp.Tensor", lambda x, y: torch.clamp(x, min=y), FIRST, SECOND)
edge("aten.clamp.Tensor", lambda x, y: torch.clamp(x, max=y), FIRST, SECOND)

# ---- rows of numbers

for name, target in {
    "sum": "aten.sum.dim_IntList",
    "mean": "aten.mean.dim",
    "logsumexp": "aten.logsumexp.default",
    "softmax": "aten.softmax.int",
    "log_softmax": "aten.log_softmax.int",
    "var": "aten.var.dim",
    "median": "aten.median.dim",
    "nanmedian": "aten.nanmedian.dim",
    "cumsum": "aten.cumsum.default",
    "any": "aten.any.dim",
    "all": "aten.all.dim",
}.items():
    edge(target, lambda x, name=name: getattr(torch, name)(x, dim=1), ROWS)
# onnxruntime does not keep NaN in every place of a row.
for name in ("amax", "amin", "argmax", "argmin"):
    edge(f"aten.{name}.default", lambda x, name=name: getattr(torch, name)(x, dim=1), KNOWN)
edge("aten.max.dim", lambda x: x.max(1), KNOWN)
edge("aten.min.dim", lambda x: x.min(1), KNOWN)
for descending in (False, True):
    edge("aten.sort.stable", lambda x, d=descending: torch.sort(x, dim=1, descending=d, stable=True), KNOWN)
    edge("aten.topk.default", lambda x, d=descending: torch.topk(x, 2, dim=1, largest=d)[0], KNOWN)
for order in (0, 1, 2):
    edge("aten.linalg_vector_norm.default", lambda x, p=order: torch.linalg.vector_norm(x, p, dim=1), ROWS)
edge("aten.layer_norm.default", lambda x: functional.layer_norm(x, (3,)), ROWS, signs=False)
edge(
    "aten.batch_norm.default",
    lambda x: functional.batch_norm(
        x,
        torch.tensor([0.0, 1.0, INF]),
        torch.tensor([0.0, 1.0, 4.0]),
        torch.tensor([1.0, NAN, 2.0]),
        torch.tensor([0.0, 0.0, 1.0]),
        eps=0.0,
    ),
    torch.tensor([[0.0, 1.0, 2.0], [-1.0, NAN, INF]]),
)
for mean, variance, scale, eps in (
    (0.5, 0.0, 2.0, 0.0),
    (0.5, 0.0, 2.0, 1e-5),
    (INF, 1.0, 1.0, 1e-5),
    (0.0, 1.0, NAN, 1e-5),
):
    edge(
        "aten.batch_norm.default",
        lambda x, m=mean, v=variance, s=scale, e=eps: functional.batch_norm(
            functional.conv1d(x, torch.tensor([[[1.0, 0.0]], [[0.0, 2.0]]])),
            *(torch.tensor([1.0, number]) for number in (m, v, s)),
            eps=e,
        ),
        torch.tensor([[[0.0, 1.0, 0.25, 3.0]]]),
    )

# ---- rows that attention masks as a whole

QUERY = floats(1, 2, 3, 4)
MASK = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
ADDED = torch.zeros(3, 3).masked_fill(~MASK, -INF)
for mask in (MASK, ADDED):
    edge(
        "aten.scaled_dot_product_attention.default",
        lambda x, m: functional.scaled_dot_product_attention(x, x, x, attn_mask=m),
        QUERY,
        mask,
        opsets=(20, 24),
        signs=False,  # A row that is masked throughout is a sum of zeros times values of any sign.
    )
edge("aten.softmax.int", lambda x, m: torch.softmax(x[..., :3].masked_fill(~m, -INF), -1), QUERY, MASK)

# ---- integers

PAIRS = INTEGERS.repeat_interleave(len(DIVISORS)), DIVISORS.repeat(len(INTEGERS))
for dtype in (torch.int64, torch.int32):
    first, second = (numbers.to(dtype) for numbers in PAIRS)
    for name in ("remainder", "fmod"):
        edge(f"aten.{name}.Tensor", getattr(torch, name), first, second)
    edge("aten.div.Tensor_mode", lambda x, y: torch.div(x, y, rounding_mode="trunc"), first, second)
    # Near its ends an integer type overflows in between.
    near = (first > 8 - 2**31) & (first < 2**31 - 8)
    edge("aten.floor_divide.default", torch.floor_divide, first[near], second[near])
for dtype in (torch.int64, torch.int32, torch.int8, torch.uint8):
    for name in ("add", "sub", "mul"):
        edge(f"aten.{name}.Tensor", getattr(torch, name), *(numbers.to(dtype) for numbers in PAIRS))
for name in ("abs", "neg", "sign", "relu"):
    edge(f"aten.{name}.default", getattr(torch, name), INTEGERS.to(torch.int32))
FITTING = torch.tensor([0.0, -0.0, 1.5, -1.5, 2.5, 100.9, -100.9, 0.3])
for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.bool):
    edge("aten.to.dtype", lambda x, d=dtype: x.to(d), FITTING)
for dtype in (torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool, torch.float32, torch.float16):
    edge("aten.to.dtype", lambda x, d=dtype: x.to(d), INTEGERS)
edge("aten.to.dtype", lambda x: x.to(torch.float16), torch.tensor([70000.0, -70000.0, 1e-9, -1e-9, NAN, -0.0]))

# ---- constants that the export computes

TABLE = torch.tensor([0.0, -0.0, NAN, INF, -INF, 1.5, -1.5])
for call in (
    lambda t: t.amax(),
    lambda t: t[:2].sum(),
    lambda t: torch.relu(t),
    lambda t: t.clamp(-1, 1),
    lambda t: torch.maximum(t, torch.ones(7)),
    lambda t: torch.sign(t),
    lambda t: t.abs().sqrt(),
    lambda t: t[[0, 1, 5, 6]].to(torch.int32),
    lambda t: t.bool(),
    lambda t: t[:2].cumsum(0),
):
    fn(
        "aten.mul.Tensor",
        lambda x, call=call: (lambda made: made * x.to(made.dtype))(call(TABLE.clone())),
        torch.ones(1),
        opsets=(20,),
        signs=True,
    )

# ---- empty tensors

EMPTY = torch.zeros(0, 3)
for target, call in {
    "aten.sum.dim_IntList": lambda x: x.sum(0),
    "aten.prod.dim_int": lambda x: x.prod(0),
    "aten.mean.dim": lambda x: x.mean(0),
    "aten.softmax.int": lambda x: x.softmax(0),
    "aten.cumsum.default": lambda x: x.cumsum(0),
    "aten.any.dim": lambda x: x.any(0),
    "aten.all.dim": lambda x: x.all(0),
    "aten.amax.default": lambda x: x.amax(1),
    "aten.cat.default": lambda x: torch.cat([x, x]),
    "aten.linear.default": lambda x: functional.linear(x, torch.ones(2, 3)),
    "aten.matmul.default": lambda x: x.t() @ x,
    "aten.sum.default": lambda x: x.sum(),
    "aten.relu.default": torch.relu,
    "aten.layer_norm.default": lambda x: functional.layer_norm(x, (3,)),
}.items():
    edge(target, call, EMPTY)
