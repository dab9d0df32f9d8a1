import torch

from op_cases import floats, fn, ints

table, indices, offsets = floats(7, 3), ints(9, low=0, high=7), torch.tensor([0, 2, 2, 5])
factors = floats(9)
for target, extra in (
    ("aten.embedding_bag.default", ()),
    ("aten._embedding_bag.default", (2,)),
    ("aten._embedding_bag_forward_only.default", (-1,)),
    ("aten.embedding_bag.padding_idx", (None,)),
    ("aten.embedding_bag.padding_idx", (-4,)),
):
    overload = torch.ops
    for part in target.split("."):
        overload = getattr(overload, part)
    for mode in (0, 1, 2):
        fn(
            target,
            lambda t, i, o, f=overload, m=mode, e=extra: f(t, i, o, False, m, False, None, False, *e)[0],
            table,
            indices,
            offsets,
        )
        fn(
            target,
            lambda t, i, o, f=overload, m=mode, e=extra: f(t, i, o, False, m, False, None, True, *e)[0],
            table,
            indices,
            torch.tensor([0, 2, 2, 5, 9]),
        )
    fn(
        target,
        lambda t, i, o, w, f=overload, e=extra: f(t, i, o, False, 0, False, w, False, *e)[0],
        table,
        indices,
        offsets,
        factors,
    )
fn(
    "aten.embedding_bag.default",
    lambda t, i, o: torch.ops.aten.embedding_bag.default(t, i, o)[0],
    table,
    indices,
    offsets,
    dynamic={1: {0: "n"}, 2: {0: "b"}},
    alternative=[table, ints(11, low=0, high=7), torch.tensor([0, 1, 7])],
)
