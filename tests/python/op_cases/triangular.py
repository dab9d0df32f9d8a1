import torch

from op_cases import bools, floats, fn, ints, op

for name in ("tril", "triu"):
    op(f"aten.{name}.default", floats(4, 4))
    op(f"aten.{name}.default", floats(2, 3, 5), 1)
    op(f"aten.{name}.default", floats(2, 5, 3), -2)
    op(f"aten.{name}.default", floats(3, 3), 9)
    op(f"aten.{name}.default", bools(4, 4), -1)
    op(f"aten.{name}.default", floats(0, 4), 1, opsets=(18, 20))
    op(f"aten.{name}.default", floats(4, 4), dynamic={0: {0: "n"}}, alternative=[floats(6, 4)])
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8):
        op(f"aten.{name}.default", ints(3, 4).to(dtype), opsets=(14, 20))
    fn(
        f"aten.{name}.default",
        lambda x, f=getattr(torch, name): f(x, diagonal=x.shape[0] - 2),
        floats(3, 4),
        dynamic={0: {0: "n"}},
        alternative=[floats(5, 4)],
    )
    op(f"aten.{name}_indices.default", 3, 4)
    op(f"aten.{name}_indices.default", 4, 3, 1)
    op(f"aten.{name}_indices.default", 4, 3, -1, dtype=torch.int32)
    op(f"aten.{name}_indices.default", 0, 3)
