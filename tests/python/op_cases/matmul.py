import torch

from op_cases import bools, floats, fn, ints, op

for target in ("aten.matmul.default", "aten.linalg_matmul.default"):
    op(target, floats(2, 3), floats(3, 4))
    op(target, floats(3), floats(3))
    op(target, floats(2, 3), floats(3))
    op(target, floats(3), floats(3, 4))
    op(target, floats(5, 1, 2, 3), floats(6, 3, 4))
    op(
        target,
        floats(2, 3, 4),
        floats(4, 5),
        dynamic={0: {0: "b", 1: "s"}},
        alternative=[floats(3, 6, 4), floats(4, 5)],
    )
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    op("aten.matmul.default", floats(2, 3, dtype=dtype), floats(3, 4, dtype=dtype))
for dtype in (torch.int64, torch.int32, torch.uint8, torch.int8, torch.int16):
    op("aten.matmul.default", ints(2, 3, low=0, dtype=dtype), ints(3, 4, low=0, dtype=dtype))
op("aten.matmul.default", floats(2, 0), floats(0, 4))
op("aten.matmul.default", floats(0, 3), floats(3, 4))
op("aten.mm.default", floats(2, 3), floats(3, 4))
op("aten.mm.default", ints(2, 3), ints(3, 4))
op("aten.bmm.default", floats(5, 2, 3), floats(5, 3, 4))
op("aten.bmm.default", floats(5, 2, 3, dtype=torch.bfloat16), floats(5, 3, 4, dtype=torch.bfloat16))
op("aten.mv.default", floats(2, 3), floats(3))
op("aten.dot.default", floats(3), floats(3))
op("aten.dot.default", ints(3), ints(3))
op("aten.vdot.default", floats(3), floats(3))
for target in ("aten.outer.default", "aten.ger.default"):
    op(target, floats(3), floats(4))
op("aten.outer.default", ints(3), floats(4))
op("aten.outer.default", floats(3, dtype=torch.bfloat16), floats(4, dtype=torch.bfloat16))
op("aten.outer.default", bools(3), bools(4))
op("aten.outer.default", floats(0), floats(4))
op("aten.chain_matmul.default", [floats(2, 3), floats(3, 4), floats(4, 5)])
op("aten.linalg_multi_dot.default", [floats(3), floats(3, 4), floats(4, 5), floats(5)])


def widened(a, b):
    """PyTorch captures a product with another type of result everywhere, but computes it on GPUs only."""
    call = torch.ops.aten.mm.dtype if a.dim() == 2 else torch.ops.aten.bmm.dtype
    return call(a, b, torch.float32) if torch.compiler.is_exporting() else a.float() @ b.float()


for dtype in (torch.float16, torch.bfloat16):
    fn("aten.mm.dtype", widened, floats(2, 3, dtype=dtype), floats(3, 4, dtype=dtype))
    fn("aten.bmm.dtype", widened, floats(5, 2, 3, dtype=dtype), floats(5, 3, 4, dtype=dtype))
op("aten.linalg_vecdot.default", floats(2, 3), floats(2, 3))
op("aten.linalg_vecdot.default", floats(4, 1, 3), floats(2, 3))
op("aten.linalg_vecdot.default", floats(4, 2, 3), floats(4, 2, 3), dim=1)
op("aten.linalg_vecdot.default", floats(3), floats(3))
op("aten.linalg_vecdot.default", floats(2, 0), floats(2, 0))
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    op("aten.linalg_vecdot.default", floats(2, 30, dtype=dtype), floats(2, 30, dtype=dtype), opsets=(14, 20))
op(
    "aten.linalg_vecdot.default",
    floats(2, 3),
    floats(2, 3),
    dynamic={0: {0: "b"}, 1: {0: "b"}},
    alternative=[floats(4, 3), floats(4, 3)],
)

# Nothing to sum: onnxruntime leaves the results of all but plain matrices as they were in memory.
for a, b in (
    ((64, 0), (0,)),
    ((5, 64, 0), (0, 32)),
    ((5, 64, 0), (0,)),
    ((0,), (5, 0, 64)),
    ((0,), (0,)),
    ((5, 2, 3), (3, 0)),
):
    op("aten.matmul.default", floats(*a), floats(*b))
op("aten.mm.default", floats(64, 0), floats(0, 32))
op("aten.bmm.default", floats(9, 64, 0), floats(9, 0, 32))
op("aten.mv.default", floats(64, 0), floats(0))
op("aten.dot.default", ints(0), ints(0))
