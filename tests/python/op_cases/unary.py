import torch

from op_cases import floats, ints, op

SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, float("inf"), float("-inf"), float("nan")])
EVERYWHERE = [
    "abs",
    "absolute",
    "arcsinh",
    "arctan",
    "asinh",
    "atan",
    "cos",
    "cosh",
    "erf",
    "exp",
    "neg",
    "negative",
    "reciprocal",
    "sgn",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "special_erf",
    "special_expit",
    "square",
    "tan",
    "tanh",
    "relu",
]
BETWEEN = ["acos", "arccos", "arcsin", "arctanh", "asin", "atanh"]
ABOVE_ONE = ["acosh", "arccosh"]
POSITIVE = ["log", "rsqrt", "sqrt"]

for name in EVERYWHERE + BETWEEN + ABOVE_ONE + POSITIVE:
    target = f"aten.{name}.default"
    low, high = {
        **dict.fromkeys(BETWEEN, (-0.99, 0.99)),
        **dict.fromkeys(ABOVE_ONE, (1.01, 4.0)),
        **dict.fromkeys(POSITIVE, (0.01, 4.0)),
    }.get(name, (-3.0, 3.0))
    op(target, floats(2, 3, low=low, high=high))
    op(target, floats(low=low, high=high))
    op(target, floats(2, 5, low=low, high=high), dynamic={0: {0: "n"}}, alternative=[floats(4, 5, low=low, high=high)])
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        op(target, floats(3, 4, dtype=dtype, low=low, high=high), opsets=(14, 20, 24))
    if name not in ("sgn", "sign"):
        op(target, SPECIAL, opsets=(20,))
    op(target, floats(0, 3), opsets=(20,))

for name in ["abs", "absolute", "neg", "negative", "sgn", "sign", "square", "relu"]:
    for dtype in (torch.int64, torch.int32, torch.int8, torch.uint8, torch.int16):
        op(f"aten.{name}.default", ints(7, dtype=dtype), opsets=(14, 20, 24))
for name in ["cos", "exp", "tanh", "sigmoid", "reciprocal", "erf", "sqrt", "rsqrt", "log", "atan"]:
    op(f"aten.{name}.default", ints(7, low=1), opsets=(14, 20))
    op(f"aten.{name}.default", torch.tensor([True, True, False]), opsets=(14, 20))
for name in ["sgn", "sign", "square"]:
    op(f"aten.{name}.default", torch.tensor([True, False]), opsets=(14, 20))

COMPLEX = torch.complex(floats(3, 4), floats(3, 4, low=-1))
for name in ("abs", "neg", "exp", "reciprocal", "square"):
    op(f"aten.{name}.default", COMPLEX)
