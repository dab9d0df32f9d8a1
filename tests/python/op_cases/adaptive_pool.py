import torch

from op_cases import floats, op

for n, size, sizes in (
    (1, (10,), [[1], [5], [4], [3], [10], [13]]),
    (2, (10, 7), [[1, 1], [5, 7], [4, 3], [1, 7], [3, 1], [12, 9]]),
    (3, (6, 5, 7), [[1, 1, 1], [3, 5, 1], [4, 3, 2], [2, 2, 2]]),
):
    targets = [f"aten.adaptive_avg_pool{n}d.default", f"aten.adaptive_max_pool{n}d.default"]
    if n > 1:
        targets.append(f"aten._adaptive_avg_pool{n}d.default")
    for target in targets:
        for out in sizes:
            op(target, floats(2, 3, *size), out)
        op(target, floats(3, *size), sizes[2])
        op(target, floats(3, *size), [1] * n)
        op(
            target,
            floats(2, 3, *size),
            [1] * n,
            dynamic={0: {0: "b", 2: "l"}},
            alternative=[floats(3, 3, size[0] + 2, *size[1:])],
        )
    op(
        targets[0],
        floats(2, 3, *size),
        [4] * n,
        dynamic={0: {0: "b", 2: "l"}},
        alternative=[floats(3, 3, size[0] + 3, *size[1:])],
    )
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        op(targets[0], floats(2, 3, *size, dtype=dtype), [1] * n)
        op(targets[0], floats(2, 3, *size, dtype=dtype), [4] * n)
        op(targets[1], floats(2, 3, *size, dtype=dtype), [4] * n)
for n in (1, 2, 3):
    for kind in ("avg", "max"):
        op(f"aten.adaptive_{kind}_pool{n}d.default", floats(0, 3, *[5] * n), [2] * n, opsets=(14, 20))
    op(f"aten.adaptive_avg_pool{n}d.default", floats(2, 3, *[5] * n), [0] * n, opsets=(14, 20))
op("aten.adaptive_max_pool3d.default", floats(2, 3, 5, 5, 5), [0, 0, 0])
