import torch

from op_cases import bools, floats, ints, op

rows = torch.tensor([[0, 1, 2, 0], [2, 0, 0, 1]])
for_axis = torch.tensor([[0, 2], [1, 0], [2, 1]])
op("aten.scatter.src", floats(3, 4), 0, rows, floats(2, 4))
op("aten.scatter.src", floats(3, 4), 0, rows, floats(3, 5))
op("aten.scatter.src", floats(3, 4), -1, for_axis, floats(3, 2))
op("aten.scatter.src", ints(3, 4), 1, for_axis, ints(3, 4))
op("aten.scatter.src", floats(), 0, torch.tensor(0), floats())
op("aten.scatter.value", floats(3, 4), 0, rows, 2.5)
op(
    "aten.scatter.value",
    ints(3, 4),
    1,
    for_axis,
    7,
    dynamic={0: {0: "n"}, 1: {0: "n"}},
    alternative=[ints(2, 4), torch.tensor([[0, 2], [1, 0]])],
)
op("aten.scatter.reduce", floats(3, 4), 0, rows, floats(2, 4), reduce="add", since=16)
op("aten.scatter.reduce", floats(3, 4), 0, rows, floats(2, 4), reduce="multiply", since=16)
op("aten.scatter.value_reduce", floats(3, 4), 0, rows, 2.0, reduce="add", since=16)
op("aten.scatter_add.default", floats(3, 4), 0, rows, floats(2, 4), since=16)
op("aten.scatter_add.default", ints(3, 4), 1, for_axis, ints(3, 4), since=16)
for reduce in ("sum", "prod", "mean", "amax", "amin"):
    for include_self in (True, False):
        op("aten.scatter_reduce.two", floats(3, 4), 0, rows, floats(2, 4), reduce, include_self=include_self, since=18)
op("aten.scatter_reduce.two", ints(3, 4), 0, rows, ints(2, 4), "amax", include_self=False, since=18)
for reduce in ("sum", "prod", "mean", "amax", "amin"):
    for dtype in (torch.float16, torch.bfloat16, torch.int64, torch.uint8):
        x, source = (
            ints(*shape, low=0 if dtype == torch.uint8 else -4, high=5).to(dtype) for shape in ((3, 4), (2, 4))
        )
        op("aten.scatter_reduce.two", x, 0, rows, source, reduce, include_self=False, since=18)
    for include_self in (True, False):
        op(
            "aten.index_reduce.default",
            floats(5, 4),
            0,
            torch.tensor([1, 1, 3]),
            floats(3, 4),
            reduce.replace("sum", "mean"),
            include_self=include_self,
            since=18,
        )
for reduce in ("amax", "amin"):
    op("aten.scatter_reduce.two", bools(3, 4), 0, rows, bools(2, 4), reduce, include_self=False, since=18)
op("aten.scatter_add.default", floats(3, 4, dtype=torch.float16), 0, rows, floats(2, 4, dtype=torch.float16), since=16)
op("aten.index_reduce.default", ints(4, 5), -1, torch.tensor([1, 1, 3]), ints(4, 3), "mean", since=16)
op(
    "aten.index_reduce.default",
    floats(4, 5, dtype=torch.float16),
    1,
    torch.tensor([1, 1, 3]),
    floats(4, 3, dtype=torch.float16),
    "prod",
    since=16,
)
op("aten.index_reduce.default", floats(), 0, torch.tensor([0]), floats(), "amax", since=18)
op(
    "aten.index_reduce.default",
    floats(5, 4),
    1,
    torch.tensor([0, 0, 2]),
    floats(5, 3),
    "prod",
    since=16,
    dynamic={0: {0: "n"}, 2: {0: "n"}},
    alternative=[floats(2, 4), torch.tensor([0, 0, 2]), floats(2, 3)],
)
