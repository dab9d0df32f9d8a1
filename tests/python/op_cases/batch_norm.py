import torch

from op_cases import floats, fn, op


def parameters(channels, dtype=torch.float32):
    return (
        floats(channels, dtype=dtype),
        floats(channels, dtype=dtype).flip(0),
        floats(channels, dtype=dtype) * 0.5,
        floats(channels, dtype=dtype).abs() + 0.1,
    )


for shape in ((2, 3), (2, 3, 5), (2, 3, 5, 6), (2, 3, 4, 5, 6)):
    op("aten.batch_norm.default", floats(*shape), *parameters(3), False, 0.1, 1e-5, True)
    op("aten.batch_norm.default", floats(*shape), None, None, *parameters(3)[2:], False, 0.1, 1e-3, True)
    op("aten.batch_norm.default", floats(*shape), *parameters(3)[:2], None, None, True, 0.1, 1e-5, True)
op(
    "aten.batch_norm.default",
    floats(2, 3, 5, 6),
    *parameters(3),
    False,
    0.1,
    1e-5,
    True,
    dynamic={0: {0: "b", 2: "h"}},
    alternative=[floats(4, 3, 7, 6), *parameters(3)],
)
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    op("aten.batch_norm.default", floats(2, 3, 5, 6, dtype=dtype), *parameters(3, dtype), False, 0.1, 1e-5, True)
op("aten.batch_norm.default", floats(2, 3, 5, 6, dtype=torch.bfloat16), *parameters(3), False, 0.1, 1e-5, True)
op("aten.batch_norm.default", floats(1, 3, 8), None, None, None, None, True, 0.0, 1e-5, True)
op(
    "aten.batch_norm.default",
    floats(1, 3, 8, dtype=torch.float64),
    *parameters(3, torch.float64)[:2],
    None,
    None,
    True,
    0.0,
    1e-5,
    True,
)
fn(
    "aten.native_batch_norm.default",
    lambda x, w, b, m, v: torch.ops.aten.native_batch_norm.default(x, w, b, m, v, False, 0.1, 1e-5)[0],
    floats(2, 3, 5),
    *parameters(3),
)
fn(
    "aten.native_batch_norm.default",
    lambda x, w, b: torch.ops.aten.native_batch_norm.default(x, w, b, None, None, True, 0.1, 1e-5),
    floats(2, 3, 5),
    *parameters(3)[:2],
)
fn(
    "aten._native_batch_norm_legit.default",
    lambda x, w, b, m, v: torch.ops.aten._native_batch_norm_legit.default(x, w, b, m, v, False, 0.1, 1e-5)[0],
    floats(2, 3, 5),
    *parameters(3),
)
op("aten._native_batch_norm_legit.no_stats", floats(2, 3, 5), *parameters(3)[:2], True, 0.1, 1e-5)
fn(
    "aten._native_batch_norm_legit_no_training.default",
    lambda x, w, b, m, v: torch.ops.aten._native_batch_norm_legit_no_training.default(x, w, b, m, v, 0.1, 1e-5)[0],
    floats(2, 3, 5, 6),
    *parameters(3),
)
for shape in ((2, 3, 5), (2, 3, 5, 6), (2, 3, 4, 5, 6)):
    op("aten.instance_norm.default", floats(*shape), *parameters(3)[:2], None, None, True, 0.1, 1e-5, True)
    op("aten.instance_norm.default", floats(*shape), None, None, None, None, True, 0.1, 1e-3, True)
    op("aten.instance_norm.default", floats(*shape), *parameters(3), False, 0.1, 1e-5, True)
op(
    "aten.instance_norm.default",
    floats(2, 3, 5, 6),
    *parameters(3)[:2],
    None,
    None,
    True,
    0.1,
    1e-5,
    True,
    dynamic={0: {0: "b", 2: "h"}},
    alternative=[floats(4, 3, 7, 6), *parameters(3)[:2]],
)
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    op(
        "aten.instance_norm.default",
        floats(2, 3, 5, 6, dtype=dtype),
        *parameters(3, dtype)[:2],
        None,
        None,
        True,
        0.1,
        1e-5,
        True,
    )
for training in (False, True):
    for weight, bias in ((False, False), (True, False), (False, True), (True, True)):
        op(
            "aten.native_batch_norm.default",
            floats(2, 3, 5),
            parameters(3)[0] if weight else None,
            parameters(3)[1] if bias else None,
            *parameters(3)[2:],
            training,
            0.1,
            1e-5,
            opsets=(14, 20),
        )
op("aten._native_batch_norm_legit.default", floats(2, 3, 5), None, None, *parameters(3)[2:], False, 0.1, 1e-5)
op("aten._native_batch_norm_legit_no_training.default", floats(2, 3, 5), None, None, *parameters(3)[2:], 0.1, 1e-5)
op("aten.batch_norm.default", floats(0, 3, 5), *parameters(3), False, 0.1, 1e-5, True)
op("aten.instance_norm.default", floats(0, 3, 5), None, None, None, None, True, 0.1, 1e-5, True)
op("aten.batch_norm.default", floats(0), None, None, None, None, True, 0.1, 1e-5, False)
for shape in ((4, 3), (2, 3, 5, 6)):
    fn(
        "aten._batch_norm_with_update.default",
        lambda x, w, b, m, v: torch.ops.aten._batch_norm_with_update.default(x, w, b, m.clone(), v.clone(), 0.1, 1e-5),
        floats(*shape),
        *parameters(3),
    )
op("aten.native_batch_norm.default", floats(2, 3, 5), *parameters(3), False, 0.1, 1e-5)
op("aten.batch_norm.default", floats(0), None, None, floats(0), floats(0), False, 0.1, 1e-5, False)
