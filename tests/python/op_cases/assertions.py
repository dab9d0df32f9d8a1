import torch

from op_cases import bools, floats, fn, never

fn("aten._assert_tensor_metadata.default", lambda x: x.to(torch.float32) + 1, floats(2, 3))
fn("aten._assert_async.default", lambda x: (torch.ops.aten._assert_async(x[0] == x[0]), x + 1)[1], floats(2))
fn("aten._assert_async.msg", lambda x: (torch.ops.aten._assert_async.msg(x[0] == x[0], "equal"), x + 1)[1], floats(2))


def counted(x):
    count = x.nonzero().shape[0]
    torch._check(count >= 1)
    return x[:count]


fn("aten._assert_scalar.default", counted, bools(20))
for name in ("sym_constrain_range", "sym_constrain_range_for_size"):
    never(f"aten.{name}.default", "ranges are traced as assertions")
fn(
    "aten._linalg_check_errors.default",
    lambda x: (torch.ops.aten._linalg_check_errors.default(x, "linalg.inv", is_matrix=True), x + 1)[1],
    torch.tensor(0, dtype=torch.int32),
)
