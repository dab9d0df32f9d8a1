import torch

from op_cases import floats, fn, never, op

# onnxruntime has no kernels for random numbers from opset 22 on.
HERE = {"compare": "shape", "opsets": (14, 18, 20)}
GENERATOR = torch.Generator()
GROW = {"dynamic": {0: {0: "n"}}, "alternative": [floats(5, 4)]}

op("aten.randint.default", 7, [2, 3], **HERE)
op("aten.randint.low", -2, 7, [2, 3], dtype=torch.int32, **HERE)
fn("aten.randint.default", lambda x: torch.randint(x.shape[0], (4,)) + x[0], floats(3, 4), **HERE, **GROW)
# One value is possible, so that the numbers are known.
fn("aten.randint.low", lambda x: torch.randint(3, 4, (2, 3)) + x, floats(3), opsets=(14, 18, 20))
fn("aten.randint_like.default", lambda x: torch.randint_like(x, 1), floats(3), opsets=(14, 18, 20))
op("aten.randint_like.Tensor", floats(2, 3), torch.tensor(5), **HERE)
fn(
    "aten.randint_like.Tensor",
    lambda x, high: torch.randint_like(x, high),
    floats(3),
    torch.tensor(1),
    opsets=(14, 18, 20),
)
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8):
    fn("aten.random.default", lambda x, dtype=dtype: x.to(dtype).random_(), floats(2, 3) + 0.5, **HERE)
fn(
    "aten.random.default",
    lambda x: ((x + 1).random_() >= 0) & ((x + 1).random_() <= 2**24),
    floats(40, 40),
    opsets=(14, 18, 20),
)
op("aten.randint_like.low_dtype", floats(2, 3), 1, 9, **HERE)
op("aten.randint.generator", 7, [2, 3], generator=None, **HERE)
fn(
    "aten.randint.generator",
    lambda x: torch.randint(1, (2, 3), generator=GENERATOR) + x,
    floats(3),
    opsets=(14, 18, 20),
)
op("aten.randint.low_generator", -2, 7, [2, 3], generator=None, **HERE)
fn(
    "aten.randint.low_generator",
    lambda x: torch.randint(-1, 0, (2, 3), generator=None) + x,
    floats(3),
    opsets=(14, 18, 20),
)
op("aten.randint_like.generator", floats(2, 3), 1, generator=None, opsets=(14, 18, 20))
op("aten.randint_like.low_generator_dtype", floats(2, 3), 3, 4, generator=None, opsets=(14, 18, 20))
op("aten.randperm.default", 6, **HERE)
op("aten.randperm.generator", 6, generator=None, **HERE)
fn("aten.randperm.default", lambda x: torch.randperm(6).sort().values + x, floats(6), opsets=(14, 18, 20))
never("aten.random.from", "an argument is called `from`, which PyTorch cannot write into its graph's code")
fn("aten.random.to", lambda x: (x + 1).random_(1), floats(4), opsets=(14, 18, 20))
