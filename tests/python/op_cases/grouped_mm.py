import torch
import transformers.integrations.moe  # noqa: F401 - registers the operator

from op_cases import floats, op

FALLBACK = "transformers.grouped_mm_fallback.default"
op(FALLBACK, floats(6, 4), floats(3, 4, 5), torch.tensor([2, 3, 6], dtype=torch.int32))
op(FALLBACK, floats(6, 4), floats(3, 4, 5), torch.tensor([0, 6, 6]))
op(FALLBACK, floats(6, 4), floats(3, 4, 5), torch.tensor([1, 1, 4], dtype=torch.int32))
op(
    FALLBACK,
    floats(6, 4),
    floats(3, 4, 5),
    torch.tensor([2, 3, 6], dtype=torch.int32),
    dynamic={0: {0: "s"}},
    alternative=[floats(9, 4), floats(3, 4, 5), torch.tensor([4, 4, 9], dtype=torch.int32)],
)
op(FALLBACK, floats(6, 4, dtype=torch.bfloat16), floats(3, 4, 5, dtype=torch.bfloat16), torch.tensor([2, 3, 6]))
op(FALLBACK, floats(6, 4, dtype=torch.float16), floats(3, 4, 5, dtype=torch.float16), torch.tensor([2, 3, 6]))
GROUPED = "aten._grouped_mm.default"
op(GROUPED, floats(32, 16), floats(2, 16, 8), torch.tensor([8, 32], dtype=torch.int32))
op(GROUPED, floats(2, 16, 8), floats(2, 8, 24))
op(GROUPED, floats(2, 16, 8), floats(8, 32), torch.tensor([8, 32], dtype=torch.int32))
op(GROUPED, floats(16, 32), floats(32, 8), torch.tensor([8, 32], dtype=torch.int32))
op(
    GROUPED,
    floats(32, 16, dtype=torch.bfloat16),
    floats(2, 16, 8, dtype=torch.bfloat16),
    torch.tensor([8, 32], dtype=torch.int32),
)
