import math

import torch

from op_cases import floats, fn, never

N = {"dynamic": {0: {0: "n"}}, "alternative": [floats(9, 3)]}
X = floats(6, 3)

fn("aten.sym_size.int", lambda x: x[: x.shape[0] // 2], X, **N)
fn("_operator.add", lambda x: x * (x.shape[0] + 3), X, **N)
fn("_operator.sub", lambda x: x[: x.shape[0] - 2], X, **N)
fn("_operator.sub", lambda x: x * (3 - x.shape[0]), X, **N)
fn("_operator.mul", lambda x: x * (x.shape[0] * 2), X, **N)
fn("_operator.floordiv", lambda x: x * (x.shape[0] // 4), X, **N)
fn("_operator.floordiv", lambda x: x * ((2 - x.shape[0]) // 4), X, **N)
fn("_operator.mod", lambda x: x * (x.shape[0] % 4), X, **N)
fn("_operator.mod", lambda x: x * ((2 - x.shape[0]) % 4), X, **N)
fn("_operator.neg", lambda x: x[: -(-x.shape[0] // 2)], X, **N)
fn("_operator.pow", lambda x: x * (x.shape[0] ** 2), X, **N)
fn("_operator.truediv", lambda x: x * (x.shape[0] / 4), X, **N)
fn("_operator.lshift", lambda x: x * (x.shape[0] << 2), X, **N)
fn("_operator.rshift", lambda x: x * (x.shape[0] >> 1), X, **N)
fn("math.trunc", lambda x: x * math.trunc((2 - x.shape[0]) / 3), X, **N)
fn("torch._sym_sqrt", lambda x: x * torch.sym_sqrt(x.shape[0]), X, **N)
fn("torch.sym_float", lambda x: x * torch.sym_float(x.shape[0]), X, **N)
fn("torch.sym_max", lambda x: x * torch.sym_max(x.shape[0], 7), X, **N)
fn("torch.sym_min", lambda x: x * torch.sym_min(x.shape[0], 7), X, **N)
for target, condition in {
    "torch.sym_ite": lambda n: n > 7,
    "_operator.gt": lambda n: n > 7,
    "_operator.ge": lambda n: n >= 7,
    "_operator.lt": lambda n: n < 7,
    "_operator.le": lambda n: n <= 6,
    "_operator.eq": lambda n: n % 4 == 1,
    "_operator.ne": lambda n: n % 4 != 1,
    "_operator.and_": lambda n: (n > 3) & (n < 8),
    "_operator.or_": lambda n: (n < 5) | (n > 8),
    "torch.sym_not": lambda n: torch.sym_not(n > 7),
}.items():
    fn(target, lambda x, condition=condition: x * torch.sym_ite(condition(x.shape[0]), 2, 5), X, **N)

for name in ("sym_stride.int", "sym_numel.default", "sym_storage_offset.default"):
    never(f"aten.{name}", "strides and counts are traced as products of sizes")
