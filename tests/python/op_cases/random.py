import torch

from op_cases import floats, fn, op

# onnxruntime has no kernels for random numbers from opset 22 on.
HERE = {"compare": "shape", "opsets": (14, 18, 20)}
GENERATOR = torch.Generator()
GROW = {"dynamic": {0: {0: "n"}}, "alternative": [floats(5, 4)]}

for name in ("rand", "randn"):
    op(f"aten.{name}.default", [2, 3], **HERE)
    op(f"aten.{name}.default", [], **HERE)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        op(f"aten.{name}.default", [2, 3], dtype=dtype, **HERE)
    fn(f"aten.{name}.default", lambda x, f=getattr(torch, name): f(x.shape[0], 4) + x, floats(3, 4), **HERE, **GROW)
    op(f"aten.{name}_like.default", floats(2, 3), **HERE)
    op(f"aten.{name}_like.default", floats(2, 3, dtype=torch.bfloat16), **HERE)
    op(f"aten.{name}_like.default", floats(3, 4), **HERE, **GROW)
    op(f"aten.{name}.generator", [2, 3], generator=None, **HERE)
    op(f"aten.{name}.generator", [2, 3], generator=None, dtype=torch.float64, **HERE)
    fn(
        f"aten.{name}.generator",
        lambda x, f=getattr(torch, name): f(3, 4, generator=GENERATOR) + x,
        floats(3, 4),
        **HERE,
    )
    op(f"aten.{name}_like.generator", floats(2, 3), generator=None, **HERE)
op("aten.uniform.default", floats(2, 3), -2.0, 5.0, **HERE)
fn("aten.uniform.default", lambda x: (x + 1).uniform_(0, 1), floats(3, 4), **HERE, **GROW)
op("aten.normal.Tensor_float", floats(2, 3), 2.0, **HERE)
op("aten.normal.float_Tensor", 1.0, floats(2, 3, low=1, high=2), **HERE)
op("aten.normal.Tensor_Tensor", floats(2, 3), floats(3, low=1, high=2), **HERE)
fn("aten.normal.Tensor_float", lambda x: torch.normal(x, 0.0), floats(2, 3), opsets=(14, 18, 20))
op("aten.normal.float_float", 1.0, 2.0, [2, 3], **HERE)
op("aten.normal_functional.default", floats(2, 3), 1.0, 3.0, **HERE)
fn("aten.normal.default", lambda x: (x + 1).normal_(1.0, 2.0), floats(3, 4), **HERE, **GROW)
op("aten.bernoulli.default", floats(2, 3, low=0, high=1), **HERE)
fn("aten.bernoulli.default", lambda x: torch.bernoulli((x > 0).float()), floats(5), opsets=(14, 18, 20))
op("aten.bernoulli.p", floats(2, 3), 0.3, **HERE)
op("aten.bernoulli.Tensor", floats(2, 3), floats(2, 3, low=0, high=1), **HERE)
fn("aten.bernoulli.float", lambda x: (x + 1).bernoulli_(0.3), floats(3, 4), **HERE)
fn("aten.bernoulli.float", lambda x: (x + 1).bernoulli_(), floats(3, 4), **HERE)
op("aten.exponential.default", floats(2, 3), 2.0, **HERE)
op("aten.geometric.default", floats(2, 3), 0.3, **HERE)
op("aten.cauchy.default", floats(2, 3), 0.5, 2.0, **HERE)
op("aten.log_normal.default", floats(2, 3), **HERE)
for count, replacement in ((1, False), (3, True), (2, False)):
    op("aten.multinomial.default", floats(4, low=0, high=1), count, replacement, **HERE)
    op("aten.multinomial.default", floats(2, 4, low=0, high=1), count, replacement, **HERE)
fn(
    "aten.multinomial.default",
    lambda x: torch.multinomial((x > 5).float(), 1),
    torch.tensor([[1.0, 9.0, 2.0], [7.0, 0.0, 0.0]]),
    opsets=(14, 18, 20),
)
fn(
    "aten.multinomial.default",
    lambda x: torch.multinomial((x > 5).float(), 2).sort().values,
    torch.tensor([[1.0, 9.0, 8.0], [7.0, 0.0, 6.0]]),
    opsets=(14, 18, 20),
)
