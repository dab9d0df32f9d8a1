import torch

from op_cases import bools, floats, fn, ints

X = ints(3, 5, low=0, high=4)
for inverse in (False, True):
    for counts in (False, True):
        fn(
            "aten._unique2.default",
            lambda x, i=inverse, c=counts: torch.unique(x, return_inverse=i, return_counts=c),
            X,
        )
        fn(
            "aten.unique_consecutive.default",
            lambda x, i=inverse, c=counts: torch.unique_consecutive(x, return_inverse=i, return_counts=c),
            X,
        )
        fn(
            "aten.unique_dim.default",
            lambda x, i=inverse, c=counts: torch.unique(x, return_inverse=i, return_counts=c, dim=0),
            ints(6, 2, low=0, high=2),
        )
for dtype in (torch.float32, torch.float64, torch.int32, torch.int8, torch.uint8, torch.float16, torch.bfloat16):
    fn("aten._unique2.default", lambda x: torch.unique(x, return_inverse=True), X.to(dtype), opsets=(14, 20))
fn(
    "aten._unique2.default",
    lambda x: torch.unique(x, return_inverse=True),
    X,
    dynamic={0: {0: "n"}},
    alternative=[ints(7, 5, low=0, high=4)],
)
fn("aten._unique.default", lambda x: torch.ops.aten._unique(x, True, True), X)
fn("aten.unique_dim.default", lambda x: torch.unique(x, dim=1, return_inverse=True), ints(2, 6, low=0, high=2))
fn("aten.unique_consecutive.default", lambda x: torch.unique_consecutive(x, True, True), floats(0))
fn("aten._unique2.default", lambda x: torch.unique(x, return_inverse=True, return_counts=True), bools(3, 4))
fn("aten.unique_dim.default", lambda x: torch.unique(x, dim=0, return_inverse=True), bools(6, 2))
