import torch
from op_cases import floats, fn, ints

def guarded(x):
    n = x.max().item()
    torch._check(n >= 0)
    torch._check(n < 9)
    return x + 1

fn("aten._assert_tensor_metadata.default", lambda x: x.to(torch.float64) + 1, floats(2, 3))
fn("aten._assert_async.msg", lambda x: (torch._assert_async(x.sum() > -1e9, "small"), x + 1)[1], floats(2, 3))
fn("aten._assert_async.default", lambda x: (torch.ops.aten._assert_async(x.sum() > -1e9), x + 1)[1], floats(2, 3))
fn("aten._assert_scalar.default", guarded, ints(4, low=0))
