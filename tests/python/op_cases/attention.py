import torch

from op_cases import bools, floats, op

OPSETS = (14, 18, 20, 23, 24)
TARGET = "aten.scaled_dot_product_attention.default"


def qkv(batch=2, heads=4, rows=5, columns=5, size=8, dtype=torch.float32, key_heads=None, value_size=None):
    key_heads = key_heads or heads
    return (
        floats(batch, heads, rows, size, dtype=dtype),
        floats(batch, key_heads, columns, size, dtype=dtype) * 1.1,
        floats(batch, key_heads, columns, value_size or size, dtype=dtype) * 0.9,
    )


def padding(*shape):
    """A mask with a row that sees nothing."""
    mask = bools(*shape)
    mask[..., 0] = True
    mask[..., 1, :] = False
    return mask


def as_numbers(mask, dtype=torch.float32):
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, -float("inf"))


op(TARGET, *qkv(), opsets=OPSETS)
op(TARGET, *qkv(columns=7, value_size=6), opsets=OPSETS)
op(TARGET, *qkv(), padding(2, 1, 5, 5), opsets=OPSETS)
op(TARGET, *qkv(), padding(2, 4, 5, 5), opsets=OPSETS)
op(TARGET, *qkv(columns=7), padding(5, 7), opsets=OPSETS)
op(TARGET, *qkv(), torch.tensor([True, True, False, True, False]).reshape(1, 1, 1, 5), opsets=OPSETS)
op(TARGET, *qkv(), as_numbers(padding(2, 1, 5, 5)), opsets=OPSETS)
op(TARGET, *qkv(), floats(1, 4, 5, 5), opsets=OPSETS)
op(TARGET, *qkv(), floats(2, 1, 5, 5).masked_fill(~padding(2, 1, 5, 5), torch.finfo(torch.float32).min), opsets=OPSETS)
op(TARGET, *qkv(), is_causal=True, opsets=OPSETS)
op(TARGET, *qkv(columns=7), is_causal=True, opsets=OPSETS)
op(TARGET, *qkv(rows=7, columns=5), is_causal=True, opsets=OPSETS)
op(TARGET, *qkv(), scale=0.3, opsets=OPSETS)
op(TARGET, *qkv(), scale=1.0, opsets=OPSETS)
op(TARGET, *qkv(), scale=-0.3, opsets=OPSETS)
op(TARGET, *qkv(key_heads=2), enable_gqa=True, opsets=OPSETS)
op(TARGET, *qkv(key_heads=1), padding(2, 1, 5, 5), enable_gqa=True, opsets=OPSETS)
op(TARGET, *qkv(key_heads=2), is_causal=True, enable_gqa=True, opsets=OPSETS)
op(TARGET, floats(2, 5, 8), floats(2, 6, 8), floats(2, 6, 8), opsets=OPSETS)
op(TARGET, floats(2, 5, 8), floats(2, 6, 8), floats(2, 6, 8), padding(2, 5, 6), opsets=OPSETS)
op(TARGET, floats(5, 8), floats(6, 8), floats(6, 8), opsets=OPSETS)
op(
    TARGET,
    *qkv(),
    padding(1, 1, 5, 5),
    opsets=OPSETS,
    dynamic={0: {0: "b", 2: "s"}, 1: {0: "b", 2: "s"}, 2: {0: "b", 2: "s"}, 3: {2: "s", 3: "s"}},
    alternative=[*qkv(batch=3, rows=7, columns=7), padding(1, 1, 7, 7)],
)
op(
    TARGET,
    *qkv(),
    is_causal=True,
    opsets=OPSETS,
    dynamic={0: {0: "b", 2: "s"}, 1: {0: "b", 2: "s"}, 2: {0: "b", 2: "s"}},
    alternative=[*qkv(batch=3, rows=7, columns=7)],
)
op(
    TARGET,
    *qkv(key_heads=2),
    enable_gqa=True,
    opsets=OPSETS,
    dynamic={0: {0: "b", 2: "s"}, 1: {0: "b", 2: "t"}, 2: {0: "b", 2: "t"}},
    alternative=[*qkv(batch=3, key_heads=2, rows=6, columns=7)],
)
for dtype in (torch.float16, torch.bfloat16, torch.float64):
    op(TARGET, *qkv(dtype=dtype), opsets=OPSETS)
    op(TARGET, *qkv(dtype=dtype), padding(2, 1, 5, 5), opsets=OPSETS)
    op(TARGET, *qkv(dtype=dtype), as_numbers(padding(2, 1, 5, 5), dtype), opsets=OPSETS)
    op(TARGET, *qkv(dtype=dtype), is_causal=True, opsets=OPSETS)
op(TARGET, *qkv(rows=70, columns=70), is_causal=True, opsets=OPSETS)
op("aten._scaled_dot_product_attention_math.default", *qkv(columns=7), opsets=OPSETS)
op("aten._scaled_dot_product_attention_math.default", *qkv(columns=7, key_heads=2), enable_gqa=True, opsets=OPSETS)
op(
    "aten._scaled_dot_product_attention_math.default",
    *qkv(columns=7),
    bools(5, 7).index_fill(1, torch.tensor(0), True),
    opsets=OPSETS,
)
op("aten._scaled_dot_product_flash_attention_for_cpu.default", *qkv(), opsets=OPSETS)
op("aten._scaled_dot_product_flash_attention_for_cpu.default", *qkv(), 0.0, True, opsets=OPSETS)
op(
    "aten._scaled_dot_product_flash_attention_for_cpu.default",
    *qkv(),
    attn_mask=floats(2, 4, 5, 5),
    scale=0.2,
    opsets=OPSETS,
)
