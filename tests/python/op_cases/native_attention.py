import torch

from op_cases import floats, fn, op


def projections(width=8):
    return floats(3 * width, width), floats(3 * width), floats(width, width), floats(width)


ATTENTION = "aten._native_multi_head_attention.default"


def attend(x, qkv, qkv_bias, out, out_bias, mask=None, **settings):
    need = settings.pop("need", True)
    result = torch.ops.aten._native_multi_head_attention.default(
        x, x, x, 8, 2, qkv, qkv_bias, out, out_bias, mask, need, settings.get("average", True), settings.get("kind")
    )
    return result if need else result[0]


fn(ATTENTION, lambda *a: attend(*a, need=False), floats(2, 5, 8), *projections())
fn(ATTENTION, lambda *a: attend(*a), floats(2, 5, 8), *projections())
fn(ATTENTION, lambda *a: attend(*a, average=False), floats(2, 5, 8), *projections())
rows = torch.ones(5, 5, dtype=torch.bool).triu(1)
fn(ATTENTION, lambda *a: attend(*a, need=False, kind=0), floats(2, 5, 8), *projections(), rows)
padding = torch.tensor([[False, False, True, True, True], [False] * 5])
fn(ATTENTION, lambda *a: attend(*a, need=False, kind=1), floats(2, 5, 8), *projections(), padding)

LAYER = "aten._transformer_encoder_layer_fwd.default"
rest = (
    floats(8),
    floats(8).flip(0),
    floats(8) + 1,
    floats(8) * 0.5,
    floats(12, 8),
    floats(12),
    floats(8, 12),
    floats(8),
)
for gelu in (False, True):
    for first in (False, True):
        op(LAYER, floats(2, 5, 8), 8, 2, *projections(), gelu, first, 1e-5, *rest)
op(LAYER, floats(2, 5, 8), 8, 2, *projections(), True, False, 1e-5, *rest, padding, 1)
op(LAYER, floats(2, 5, 8), 8, 2, *projections(), False, False, 1e-5, *rest, rows, 0)
