import torch

from op_cases import floats, fn, ints, op

for target in ("aten.view.default", "aten.reshape.default", "aten.view_copy.default", "aten._unsafe_view.default"):
    op(target, floats(2, 3, 4), [6, 4])
    op(target, floats(2, 3, 4), [-1])
    op(target, floats(2, 0, 4), [0, 8])
    op(target, floats(1), [])
op("aten.reshape.default", torch.complex(floats(2, 6), floats(2, 6)), [2, 2, 3])
fn(
    "aten.view.default",
    lambda x: x.view(x.shape[0], x.shape[1], 2, 3),
    floats(2, 5, 6),
    dynamic={0: {0: "b", 1: "s"}},
    alternative=[floats(4, 7, 6)],
)
fn(
    "aten.view.default",
    lambda x: x.view(x.shape[0] * x.shape[1], 6),
    floats(2, 5, 6),
    dynamic={0: {0: "b", 1: "s"}},
    alternative=[floats(4, 7, 6)],
)
fn(
    "aten.reshape.default",
    lambda x: x.reshape(x.shape[1], x.shape[0], 6),
    floats(2, 5, 6),
    dynamic={0: {0: "b", 1: "s"}},
    alternative=[floats(4, 7, 6)],
)
op("aten.view_as.default", floats(2, 3), ints(3, 2))
op("aten.reshape_as.default", floats(2, 3), ints(6))
op("aten._reshape_alias.default", floats(2, 3), [3, 2], [2, 1])
op("aten.flatten.using_ints", floats(2, 3, 4))
op("aten.flatten.using_ints", floats(2, 3, 4), 1)
op("aten.flatten.using_ints", floats(2, 3, 4, 5), -3, -2, dynamic={0: {0: "b"}}, alternative=[floats(4, 3, 4, 5)])
op("aten.flatten.using_ints", floats())
op("aten.unflatten.int", floats(2, 6), -1, [2, -1])
op("aten.ravel.default", floats(2, 3))
for n in (1, 2, 3):
    op(f"aten.atleast_{n}d.default", floats())
    op(f"aten.atleast_{n}d.default", floats(4))
    op(f"aten.atleast_{n}d.default", floats(2, 3))
    op(f"aten.atleast_{n}d.Sequence", [floats(), floats(4), ints(2, 3), floats(2, 3, 4, 5)])
    op(
        f"aten.atleast_{n}d.Sequence",
        [floats(4), floats(2, 3)],
        dynamic={0: {0: "a"}, 1: {1: "b"}},
        alternative=[floats(6), floats(2, 5)],
    )
