import torch

from op_cases import bools, floats, fn, ints


def scaled(x):
    return x * x[1].item()


def sized(x, n):
    size = n[0].item()
    torch._check(size >= 1)
    torch._check(size <= x.shape[0])
    return x[:size] + 1


fn("aten.item.default", scaled, floats(3))
fn("aten.item.default", scaled, floats(3, dtype=torch.float16))
fn("aten.item.default", scaled, ints(3))
fn("aten.item.default", sized, floats(7, 2), ints(3, low=1, high=6))
fn("aten.item.default", lambda x: x * x.reshape(1, 1).item(), floats(1))
fn("aten.item.default", lambda x, flag: x + torch.sym_ite(flag[0].item(), 1, 2), floats(3), bools(2))
fn("aten._local_scalar_dense.default", lambda x: x * torch.ops.aten._local_scalar_dense(x[0]), floats(3))
