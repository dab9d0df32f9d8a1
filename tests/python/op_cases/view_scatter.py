import torch

from op_cases import bools, floats, fn, ints, op

op("aten.slice_scatter.default", floats(6, 5), floats(3, 5), 0, 1, 4)
op("aten.slice_scatter.default", floats(6, 5), floats(6, 5))
op("aten.slice_scatter.default", floats(6, 5), floats(6, 2), 1, -2)
op("aten.slice_scatter.default", floats(6, 5), floats(6, 2), -1, 0, 2)
op("aten.slice_scatter.default", floats(6, 5), floats(6, 3), 1, 0, None, 2)
op("aten.slice_scatter.default", floats(6, 5), floats(6, 0), 1, 4, 2)
op("aten.slice_scatter.default", ints(6, 5), ints(6, 2), 1, 1, 3)
op("aten.slice_scatter.default", bools(6), bools(2), 0, 1, 3)
op("aten.slice_scatter.default", floats(40, 30, 8), floats(40, 20, 8), 1, 5, 25)
op("aten.slice_scatter.default", floats(40, 30, 8), floats(40, 25, 8), 1, 0, 25)
op("aten.slice_scatter.default", floats(40, 300, 2), floats(40, 100, 2), 1, 1, 300, 3)
op(
    "aten.slice_scatter.default",
    torch.complex(floats(4, 3), floats(4, 3)),
    torch.complex(floats(4, 2), floats(4, 2)),
    1,
    1,
)
fn(
    "aten.slice_scatter.default",
    lambda x, y: torch.slice_scatter(x, y, 1, 1, 3),
    floats(3, 6),
    floats(3, 2),
    dynamic={0: {1: "n"}},
    alternative=[floats(3, 4), floats(3, 2)],
)
fn(
    "aten.slice_scatter.default",
    lambda x, y: torch.slice_scatter(x, y, 1, -2),
    floats(3, 6),
    floats(3, 2),
    dynamic={0: {1: "n"}},
    alternative=[floats(3, 4), floats(3, 2)],
)
fn(
    "aten.slice_scatter.default",
    lambda x, y: torch.slice_scatter(x, y, 0, -3, -1),
    floats(6, 2),
    floats(2, 2),
    dynamic={0: {0: "n"}},
    alternative=[floats(4, 2), floats(2, 2)],
)
fn(
    "aten.slice_scatter.default",
    lambda x, y: torch.slice_scatter(x, y * 2, 1, 1),
    floats(3, 6),
    floats(3, 5),
    dynamic={0: {0: "b", 1: "n"}, 1: {0: "b", 1: "m"}},
    alternative=[floats(2, 4), floats(2, 3)],
)
fn(
    "aten.slice_scatter.default",
    lambda x: torch.slice_scatter(x, x[:, ::2] * 2, 1, 0, step=2),
    floats(3, 6),
    dynamic={0: {0: "b", 1: "n"}},
    alternative=[floats(2, 5)],
)

op("aten.select_scatter.default", floats(6, 5), floats(5), 0, 2)
op("aten.select_scatter.default", floats(6, 5), floats(6), 1, -1)
op("aten.select_scatter.default", floats(6, 5), floats(6), -1, 0)
op("aten.select_scatter.default", ints(6), ints(), 0, 3)
op("aten.select_scatter.default", floats(50, 60, 3, 2), floats(50, 60, 2), 2, 1)
op("aten.select_scatter.default", torch.complex(floats(4, 3), floats(4, 3)), torch.complex(floats(4), floats(4)), 1, 1)
fn(
    "aten.select_scatter.default",
    lambda x, y: torch.select_scatter(x, y, 1, -1),
    floats(3, 6),
    floats(3),
    dynamic={0: {0: "b", 1: "n"}, 1: {0: "b"}},
    alternative=[floats(2, 4), floats(2)],
)
fn(
    "aten.select_scatter.default",
    lambda x, y: torch.select_scatter(x, y, 0, x.shape[0] // 2),
    floats(6, 2),
    floats(2),
    dynamic={0: {0: "n"}},
    alternative=[floats(4, 2), floats(2)],
)

op("aten.diagonal_scatter.default", floats(4, 5), floats(4))
op("aten.diagonal_scatter.default", floats(4, 5), floats(3), 2)
op("aten.diagonal_scatter.default", floats(4, 5), floats(3), -1)
op("aten.diagonal_scatter.default", floats(4, 5), floats(0), 5)
op("aten.diagonal_scatter.default", floats(2, 4, 3, 5), floats(2, 3, 4), 0, 1, -1)
op("aten.diagonal_scatter.default", floats(2, 4, 5), floats(2, 3), 1, 2, 1)
op("aten.diagonal_scatter.default", floats(40, 30, 50), floats(50, 29), 1, 0, 1)
fn(
    "aten.diagonal_scatter.default",
    lambda x, y: torch.diagonal_scatter(x, y),
    floats(4, 4),
    floats(4),
    dynamic={0: {0: "n", 1: "n"}, 1: {0: "n"}},
    alternative=[floats(3, 3), floats(3)],
)

op("aten.as_strided_scatter.default", floats(4, 5), floats(2, 3), [2, 3], [10, 2], 1)
op("aten.as_strided_scatter.default", floats(12), floats(3), [3], [3])
op("aten.as_strided_scatter.default", floats(4, 5), floats(0), [0], [1])
