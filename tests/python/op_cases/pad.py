import torch

from op_cases import bools, floats, fn, ints, op

OPSETS = (14, 18, 19, 20, 24)
PAD = "aten.pad.default"
op(PAD, floats(2, 3, 4), [1, 2])
op(PAD, floats(2, 3, 4), [1, 2, 0, 3], "constant", 1.5)
op(PAD, floats(2, 3, 4), [-1, 2, 1, -2])
op(PAD, floats(2, 3, 4), [-1, -2])
op(PAD, floats(2, 3, 4), [0, 0])
op(PAD, floats(2, 3, 4), [1, 0, 0, 0, 2, 1])
op(PAD, floats(0, 3), [1, 1, 2, 0])
for x in (
    ints(2, 3),
    ints(2, 3, dtype=torch.int32),
    ints(2, 3, low=0, dtype=torch.uint8),
    ints(2, 3, dtype=torch.int16),
    ints(2, 3, dtype=torch.int8),
    floats(2, 3, dtype=torch.float16),
    floats(2, 3, dtype=torch.bfloat16),
    floats(2, 3, dtype=torch.float64),
):
    op(PAD, x, [1, 2], "constant", 3)
op(PAD, bools(2, 3), [1, 2], "constant", 1)
op(PAD, floats(2, 3), [1, 2], "constant", -float("inf"))
op(PAD, floats(2, 3, 4), [1, 2], dynamic={0: {0: "b", 2: "s"}}, alternative=[floats(3, 3, 6)])
fn(
    PAD,
    lambda x, y: torch.nn.functional.pad(x, [0, y.shape[0]]),
    floats(2, 3),
    floats(4),
    dynamic={1: {0: "n"}},
    alternative=[floats(2, 3), floats(7)],
)
fn(
    PAD,
    lambda x: torch.nn.functional.pad(x, [0, x.shape[1] // 2]),
    floats(2, 6),
    dynamic={0: {1: "n"}},
    alternative=[floats(2, 9)],
)
for mode in ("reflect", "replicate", "circular"):
    op(PAD, floats(2, 3, 5), [1, 2], mode, opsets=OPSETS)
    op(PAD, floats(3, 5), [2, 0], mode, opsets=OPSETS)
    op(PAD, floats(2, 3, 5, 6), [1, 2, 3, 0], mode, opsets=OPSETS)
    op(PAD, floats(2, 3, 4, 5, 6), [1, 2, 3, 0, 1, 1], mode, opsets=OPSETS)
    op(PAD, floats(2, 3, 5, 6, dtype=torch.bfloat16), [1, 2, 3, 0], mode, opsets=OPSETS)
    op(PAD, floats(2, 3, 5, 6, dtype=torch.float16), [1, 2, 3, 0], mode, opsets=OPSETS)
    op(
        PAD,
        floats(2, 3, 5, 6),
        [1, 2, 3, 0],
        mode,
        dynamic={0: {0: "b", 2: "h"}},
        alternative=[floats(1, 3, 7, 6)],
        opsets=OPSETS,
    )
    op(
        "aten._pad_enum.default",
        floats(2, 3, 5),
        [1, 2],
        ("reflect", "replicate", "circular").index(mode),
        opsets=OPSETS,
    )
op(PAD, floats(2, 3, 5, 6), [-1, 2, 1, -2], "circular", opsets=OPSETS)
op("aten._pad_enum.default", floats(2, 3), [1, 2], 3, 2.5)
op("aten.constant_pad_nd.default", floats(2, 3), [1, 2, 3, 4])
op("aten.constant_pad_nd.default", ints(2, 3), [1, -1], 7)
op("aten._pad_circular.default", floats(2, 3, 5), [1, 2], opsets=OPSETS)
for kind in ("reflection", "replication"):
    op(f"aten.{kind}_pad1d.default", floats(2, 3, 5), [1, 2])
    op(f"aten.{kind}_pad1d.default", floats(3, 5), [2, 1])
    op(f"aten.{kind}_pad2d.default", floats(2, 3, 5, 6), [1, 2, 0, 3])
    op(f"aten.{kind}_pad2d.default", floats(3, 5, 6), [1, 2, 0, 3])
    op(f"aten.{kind}_pad3d.default", floats(2, 3, 4, 5, 6), [1, 2, 0, 3, 2, 1])
op("aten.replication_pad2d.default", floats(2, 3, 5, 6), [-1, 2, 7, -2])
for n in (1, 2, 3):
    op("aten._pad_circular.default", floats(0, 3, *[5] * n), [1, 2] * n, opsets=OPSETS)
    for mode in ("reflect", "replicate", "circular"):
        op(PAD, floats(0, 3, *[5] * n), [1, 2] * n, mode, opsets=(14, 20))
    # Cut off completely; PyTorch repeats what was nearest.
    for amounts in ([-5, 7], [7, -5], [-6, 9], [9, -6], [3, -4]):
        op(f"aten.replication_pad{n}d.default", floats(2, 3, *[5] * n), amounts * n, opsets=(14, 20))
    op(PAD, floats(2, 3, *[5] * n), [-5, 7] * n, "replicate", opsets=(14, 20))
op(PAD, floats(2, 3, 5, 6), [-6, 7, 1, 2], "replicate", dynamic={0: {0: "b"}}, alternative=[floats(1, 3, 5, 6)])
op(PAD, floats(2, 3, 5, dtype=torch.bfloat16), [-5, 7], "replicate", opsets=(14, 20))
