import torch

from op_cases import floats, ints, op

SIZES = {1: (7,), 2: (7, 6), 3: (4, 5, 6)}
OUTS = {1: [[14], [5], [3], [7], [1]], 2: [[14, 12], [5, 9], [3, 2], [7, 6], [13, 1]], 3: [[8, 10, 12], [3, 7, 5]]}
NAMES = {
    "upsample_nearest1d": 1,
    "upsample_nearest2d": 2,
    "upsample_nearest3d": 3,
    "_upsample_nearest_exact1d": 1,
    "_upsample_nearest_exact2d": 2,
    "_upsample_nearest_exact3d": 3,
    "upsample_linear1d": 1,
    "upsample_bilinear2d": 2,
    "upsample_trilinear3d": 3,
    "upsample_bicubic2d": 2,
}
for name, n in NAMES.items():
    x = floats(2, 3, *SIZES[n])
    for corners in ((),) if "nearest" in name else ((False,), (True,)):
        for out in OUTS[n]:
            op(f"aten.{name}.default", x, out, *corners)
        op(f"aten.{name}.vec", x, OUTS[n][1], *corners, None)
        op(f"aten.{name}.vec", x, None, *corners, [2.0] * n)
        op(f"aten.{name}.vec", x, None, *corners, [1.3, 0.7, 1.9][:n])
        op(f"aten.{name}.vec", x, None, *corners, [0.5, 0.25, 0.5][:n])
    op(f"aten.{name}.default", x, [2 * size for size in SIZES[n]], *corners, *[2.0] * n)
    op(
        f"aten.{name}.vec",
        x,
        None,
        *corners,
        [2.0] * n,
        dynamic={0: {0: "b", 2: "l"}},
        alternative=[floats(1, 3, SIZES[n][0] + 2, *SIZES[n][1:])],
    )
    op(f"aten.{name}.vec", x, OUTS[n][0], *corners, None, dynamic={0: {0: "b"}}, alternative=[floats(1, 3, *SIZES[n])])
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        op(
            f"aten.{name}.default",
            floats(2, 3, *SIZES[n], dtype=dtype),
            OUTS[n][0],
            *corners,
            rtol=1e-5 if dtype == torch.float64 else None,
        )
        op(
            f"aten.{name}.default",
            floats(2, 3, *SIZES[n], dtype=dtype),
            OUTS[n][1],
            *corners,
            rtol=1e-5 if dtype == torch.float64 else None,
        )
for size, out in ((14, 2), (20, 12), (14, 46), (16, 47), (6, 37)):
    op("aten.upsample_nearest1d.default", floats(1, 2, size), [out])
    op("aten._upsample_nearest_exact1d.default", floats(1, 2, size), [out])
op("aten.upsample_nearest2d.default", ints(1, 2, 3, 4, low=0, high=200, dtype=torch.uint8), [6, 8])
# Factors that contradict the sizes: PyTorch takes both at their word.
for name, n in NAMES.items():
    x = floats(2, 3, *SIZES[n])
    for corners in ((),) if "nearest" in name else ((False,), (True,)):
        op(f"aten.{name}.default", x, OUTS[n][1], *corners, *[2.0, 0.3, 1.1][:n], opsets=(14, 20))
        if name.startswith("upsample_nearest"):
            continue  # Where a size stays or doubles, PyTorch's kernels for `nearest` disagree, and it is refused.
        op(f"aten.{name}.default", x, OUTS[n][0], *corners, *[0.6, 3.0, 1.0][:n], opsets=(14, 20))
        op(f"aten.{name}.vec", x[:, :, :5], None, *corners, [1.1, 2.0, 1.1][:n], opsets=(14, 20))
        op(f"aten.{name}.vec", x, None, *corners, [1.1] * n, opsets=(14, 20))
    op(f"aten.{name}.default", x[:0], OUTS[n][1], *corners, opsets=(14, 20))
op("aten.upsample_bilinear2d.default", floats(2, 3, 7, 6, dtype=torch.float16), [5, 9], False, 2.0, 0.3)
op(
    "aten.upsample_bilinear2d.vec",
    floats(2, 3, 17, 6),
    None,
    False,
    [1.1, 1.1],
    dynamic={0: {2: "h"}},
    alternative=[floats(2, 3, 23, 6)],
)
