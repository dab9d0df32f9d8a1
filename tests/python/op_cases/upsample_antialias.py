import torch

from op_cases import floats, op

for name in ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa"):
    x = floats(2, 3, 9, 8)
    for corners in (False, True):
        for out in ([4, 3], [18, 20], [5, 13], [9, 8], [1, 2]):
            op(f"aten.{name}.default", x, out, corners)
    op(f"aten.{name}.vec", x, [4, 3], False, None)
    op(f"aten.{name}.vec", x, None, False, [0.5, 0.7])
    op(f"aten.{name}.vec", x, [4, 3], False, None, dynamic={0: {0: "b"}}, alternative=[floats(1, 3, 9, 8)])
    for dtype in (torch.float64,):
        op(f"aten.{name}.default", x.to(dtype), [4, 3], False, rtol=1e-5)
for name in ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"):
    op(
        f"aten.{name}.vec",
        floats(2, 3, 9, 8),
        None,
        False,
        [0.5, 0.5],
        dynamic={0: {0: "b", 2: "h"}},
        alternative=[floats(1, 3, 12, 8)],
        opsets=(18, 20, 24),
    )
for name in ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa"):
    for corners in (False, True):
        op(f"aten.{name}.default", floats(2, 3, 9, 8), [4, 3], corners, 2.0, 0.3)
        op(f"aten.{name}.default", floats(2, 3, 9, 8), [12, 5], corners, 1.25, 0.7)
    op(f"aten.{name}.vec", floats(2, 3, 5, 5), None, False, [1.1, 1.1])
    op(f"aten.{name}.default", floats(0, 3, 9, 8), [4, 3], False)
