import torch

from op_cases import bools, floats, fn, ints, op

op("aten.addmm.default", floats(4), floats(2, 3), floats(3, 4))
op("aten.addmm.default", floats(2, 4), floats(2, 3), floats(3, 4), beta=0.5, alpha=2)
op(
    "aten.addmm.default",
    floats(2, 1),
    floats(2, 3),
    floats(3, 4),
    dynamic={0: {0: "b"}, 1: {0: "b"}},
    alternative=[floats(5, 1), floats(5, 3), floats(3, 4)],
)
op("aten.addmm.default", torch.full((4,), float("nan")), floats(2, 3), floats(3, 4), beta=0)
op("aten.addmm.default", ints(4), ints(2, 3), ints(3, 4), beta=2, alpha=3)
op(
    "aten.addmm.default",
    floats(4, dtype=torch.float64),
    floats(2, 3, dtype=torch.float64),
    floats(3, 4, dtype=torch.float64),
    beta=0.1,
)
for dtype in (torch.float16, torch.bfloat16):
    op("aten.addmm.default", floats(4, dtype=dtype), floats(2, 3, dtype=dtype), floats(3, 4, dtype=dtype), alpha=0.5)
op("aten.addmv.default", floats(2), floats(2, 3), floats(3), beta=0.5, alpha=2)
op("aten.addmv.default", floats(1), floats(2, 3), floats(3), beta=0)
op("aten.addr.default", floats(2, 3), floats(2), floats(3), beta=0.5, alpha=2)
op("aten.addr.default", bools(2, 3), bools(2), bools(3))
op("aten.addr.default", bools(2, 3), bools(2), bools(3), beta=False, alpha=True)
op("aten.addr.default", bools(2, 3), bools(2), bools(3), beta=True, alpha=False)
op("aten.baddbmm.default", floats(5, 2, 4), floats(5, 2, 3), floats(5, 3, 4), beta=0.5, alpha=2)
op("aten.baddbmm.default", floats(1, 2, 4), floats(5, 2, 3), floats(5, 3, 4), beta=0)
op("aten.baddbmm.default", floats(4), floats(5, 2, 3), floats(5, 3, 4))
op("aten.addbmm.default", floats(2, 4), floats(5, 2, 3), floats(5, 3, 4), beta=0.5, alpha=2)


def widened(c, a, b):
    """PyTorch captures a product with another type of result everywhere, but computes it on GPUs only."""
    if torch.compiler.is_exporting():
        return torch.ops.aten.addmm.dtype(c, a, b, torch.float32, beta=0.5, alpha=2)
    return torch.addmm(c.float(), a.float(), b.float(), beta=0.5, alpha=2)


for dtype in (torch.float16, torch.bfloat16):
    fn("aten.addmm.dtype", widened, floats(2, 4), floats(2, 3, dtype=dtype), floats(3, 4, dtype=dtype))
    fn("aten.addmm.dtype", widened, floats(2, 4, dtype=dtype), floats(2, 3, dtype=dtype), floats(3, 4, dtype=dtype))
for beta in (1, 0.5, 0):
    op("aten.addmm.default", floats(4), floats(2, 0), floats(0, 4), beta=beta)
    op("aten.addmm.default", floats(2, 4), floats(2, 0), floats(0, 4), beta=beta, alpha=2)
    op("aten.addmv.default", floats(2), floats(2, 0), floats(0), beta=beta)
    op("aten.baddbmm.default", floats(5, 2, 4), floats(5, 2, 0), floats(5, 0, 4), beta=beta)
    op("aten.addbmm.default", floats(2, 4), floats(5, 2, 0), floats(5, 0, 4), beta=beta)
    op("aten.addbmm.default", floats(2, 4), floats(0, 2, 3), floats(0, 3, 4), beta=beta)
    op("aten.addr.default", floats(0, 3), floats(0), floats(3), beta=beta)
    op(
        "aten.addmm.default",
        floats(2, 4),
        floats(2, 3),
        floats(3, 4),
        beta=beta,
        dynamic={1: {1: "k"}, 2: {0: "k"}},
        alternative=[floats(2, 4), floats(2, 0), floats(0, 4)],
    )
op("aten.addmm.default", ints(4), ints(2, 0), ints(0, 4), beta=2)
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    op("aten.addmm.default", floats(4, dtype=dtype), floats(2, 0, dtype=dtype), floats(0, 4, dtype=dtype), beta=0.5)
op("aten.addmm.default", floats(4), floats(0, 3), floats(3, 4), beta=0.5)
