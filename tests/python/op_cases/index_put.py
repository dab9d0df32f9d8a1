import torch

from op_cases import bools, floats, fn, ints, op

distinct = torch.tensor([3, 0, 4])
for target in ("aten.index_put.default", "aten._unsafe_index_put.default"):
    op(target, floats(5, 4), [distinct], floats(3, 4))
    op(target, floats(5, 4), [distinct], floats(1))
    op(target, floats(5, 4), [None, torch.tensor([2, 0])], floats(5, 2))
    op(target, floats(5, 4), [distinct, torch.tensor([1, 1, 2])], floats(3))
    op(target, floats(2, 5, 4), [None, distinct, torch.tensor([1, 1, 2])], floats(2, 3))
    op(target, floats(5, 4, 3), [distinct, None, torch.tensor([1, 0, 2])], floats(3, 4))
op("aten.index_put.default", ints(5, 4), [distinct], ints(4))
op("aten.index_put.default", floats(5, 4), [distinct], floats(3, 4), True, since=16)
op("aten.index_put.default", floats(5), [torch.tensor([1, 1, 2])], floats(3), True, since=16)
op("aten.index_put.default", floats(5, 4), [bools(5, 4)], torch.tensor(2.0))
op("aten.index_put.default", floats(5, 4), [bools(5)], floats(4))
op("aten.index_put.default", floats(5, 4), [bools(5)], floats(1, 4))
op("aten.index_put.default", bools(5, 4), [distinct], torch.tensor(True))
fn(
    "aten.index_put.default",
    lambda x, y: torch.index_put(x, (torch.arange(x.shape[0]), y), torch.zeros(())),
    floats(5, 4),
    ints(5, low=0, high=4),
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[floats(3, 4), ints(3, low=0, high=4)],
)
op("aten.index_add.default", floats(5, 4), 0, torch.tensor([1, 1, 2]), floats(3, 4), since=16)
op("aten.index_add.default", floats(5, 4), -1, torch.tensor([1, 1, 2]), floats(5, 3), alpha=2, since=16)
op("aten.index_copy.default", floats(5, 4), 0, distinct, floats(3, 4))
op("aten.index_copy.default", floats(4, 5), 1, distinct, floats(4, 3))
op("aten.index_fill.int_Scalar", floats(5, 4), 0, distinct, 7)
op("aten.index_fill.int_Scalar", ints(4, 5), -1, distinct, 7)
op("aten.index_fill.int_Tensor", floats(5, 4), 0, distinct, torch.tensor(1.5))


def written(x, mask, values):
    x = x.clone()
    x[mask] = values
    return x


def written_behind(x, mask, values):
    x = x.clone()
    x[:, mask] = values
    return x


ALL, NONE = torch.ones(4, dtype=torch.bool), torch.zeros(4, dtype=torch.bool)
fn(
    "aten.index_put.default",
    written,
    floats(4, 3),
    ALL,
    floats(4, 3),
    dynamic={2: {0: "n"}},
    alternative=[floats(4, 3), NONE, floats(0, 3)],
)
fn(
    "aten.index_put.default",
    written,
    floats(4, 3),
    ALL,
    floats(4, 3),
    dynamic={0: {0: "b"}, 1: {0: "b"}, 2: {0: "n"}},
    alternative=[floats(6, 3), torch.zeros(6, dtype=torch.bool), floats(0, 3)],
)
fn(
    "aten.index_put.default",
    written,
    floats(4, 3),
    torch.ones(4, 3, dtype=torch.bool),
    floats(12),
    dynamic={2: {0: "n"}},
    alternative=[floats(4, 3), torch.zeros(4, 3, dtype=torch.bool), floats(0)],
)
fn(
    "aten.index_put.default",
    written_behind,
    floats(3, 4),
    ALL,
    floats(3, 4),
    dynamic={2: {1: "n"}},
    alternative=[floats(3, 4), NONE, floats(3, 0)],
)
for mask in (bools(4), NONE):
    for values in (floats(3, 1), floats(1), floats()):
        fn("aten.index_put.default", written_behind, floats(3, 4), mask, values)
for values in (floats(3, 1, 6), floats(1, 6), floats(6)):
    fn("aten.index_put.default", written_behind, floats(3, 4, 5, 6), bools(4, 5), values)
fn("aten.index_put.default", written_behind, floats(3, 4, 5), torch.tensor([True, False, True, True]), floats(3, 3, 5))
op("aten.index_put.default", floats(3, 4), [bools(3)], floats(4), True)
op("aten.index_put.default", floats(3, 4), [bools(3, 4)], floats(1), True)
for accumulate in (False, True):
    op("aten.index_put.default", floats(3, 4), [ints(0)], floats(0, 4), accumulate, since=16)
op(
    "aten.index_add.default",
    floats(3, 4),
    0,
    torch.tensor([0, 2]),
    floats(2, 4),
    dynamic={1: {0: "n"}, 2: {0: "n"}},
    alternative=[floats(3, 4), ints(0), floats(0, 4)],
    since=16,
)
op("aten.index_put.default", bools(5, 4), [bools(5, 4)], torch.tensor(True))
op("aten.index_put.default", bools(5, 4), [bools(5)], bools(4))
op("aten.index_put.default", floats(5, 4), [bools(5)], floats(4), True)
op("aten.index_put.default", bools(5, 4), [bools(5)], bools(4), True)
for dtype in (torch.float16, torch.bfloat16):
    op(
        "aten.index_put.default",
        floats(5, dtype=dtype),
        [torch.tensor([1, 1, 2])],
        floats(3, dtype=dtype),
        True,
        since=16,
    )
    op(
        "aten.index_add.default",
        floats(5, 4, dtype=dtype),
        0,
        torch.tensor([1, 1, 2]),
        floats(3, 4, dtype=dtype),
        since=16,
    )
op("aten.index_add.default", bools(5, 4), 0, torch.tensor([1, 1, 2]), bools(3, 4), since=16)
op("aten.index_add.default", bools(5, 4), 1, torch.tensor([1, 1, 2]), bools(5, 3), alpha=False, since=16)
op("aten.index_add.default", bools(), 0, torch.tensor([0]), bools(), since=16)
op("aten.put.default", floats(5, 4), torch.tensor([[3, -1], [7, 0]]), floats(2, 2))
op("aten.put.default", floats(5, 4), torch.tensor([3, 3, 7]), floats(3), True, since=16)
op(
    "aten.put.default",
    floats(5, 4, dtype=torch.float16),
    torch.tensor([3, 3, 7]),
    floats(3, dtype=torch.float16),
    True,
    since=16,
)
op("aten.put.default", bools(5, 4), torch.tensor([3, 1]), bools(2))
op("aten.put.default", floats(), torch.tensor(0), floats())
op("aten.put.default", floats(5, 4), torch.tensor([], dtype=torch.int64), floats(0))
op(
    "aten.put.default",
    ints(5, 4),
    torch.tensor([3, 1]),
    ints(2),
    dynamic={0: {0: "n"}},
    alternative=[ints(2, 4), torch.tensor([3, 1]), ints(2)],
)
for accumulate in (False, True):
    op("aten.index_put.default", floats(2, 5, 4), [None, bools(5)], torch.tensor(2.0), accumulate)
    op("aten.index_put.default", floats(2, 5, 4), [None, bools(5)], floats(4), accumulate)
    op("aten.index_put.default", floats(2, 5, 4), [None, bools(5)], floats(2, 1, 4), accumulate)
    op("aten.index_put.default", floats(2, 5, 4, 3), [None, bools(5, 4)], floats(2, 1, 3), accumulate)
    op("aten.index_put.default", floats(2, 5, 4), [None, bools(5, 4)], floats(2, 1), accumulate)
    op("aten.index_put.default", floats(5, 4), [bools(5, 4)], floats(1), accumulate)
