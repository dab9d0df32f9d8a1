"""Attention in the spellings of many models, against eager PyTorch, and what becomes of it."""

import math

import onnx
import onnxruntime
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import modelexport
import support
from exported import all_nodes

OPSETS = (18, 20, 23, 24)
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
LOWEST = {dtype: torch.finfo(dtype).min for dtype in DTYPES}
HEADS, SIZE = 4, 8
DYNAMIC = torch.export.Dim.DYNAMIC


def seen(rows: int, columns: int) -> torch.Tensor:
    """Which keys each query sees: those before it and, in the second sequence, no padding."""
    mask = torch.ones(rows, columns, dtype=torch.bool).tril(columns - rows).expand(2, 1, -1, -1).clone()
    mask[1, :, :, 0] = False
    mask[1, :, :, 1] = True
    return mask


def repeated(x: torch.Tensor) -> torch.Tensor:
    batch, heads, rows, size = x.shape
    return x[:, :, None].expand(batch, heads, HEADS // heads, rows, size).reshape(batch, HEADS, rows, size)


def scaled_product(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, mask)


def added_number(q, k, v, mask):
    bias = torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -math.inf)
    return F.scaled_dot_product_attention(q, k, v, bias, scale=0.3)


def causal(q, k, v, mask):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def divided(q, k, v, mask):
    scores = q @ k.transpose(-1, -2) / math.sqrt(SIZE)
    scores = scores + torch.where(mask, 0.0, LOWEST[q.dtype]).to(q.dtype)
    return scores.softmax(-1) @ v


def times_before(q, k, v, mask):
    root = SIZE**-0.25
    scores = (q * root) @ (k * root).transpose(2, 3)
    return scores.masked_fill(~mask, -math.inf).softmax(-1) @ v


def in_single(q, k, v, mask):
    """As language models of transformers do it: the softmax in float32."""
    bias = torch.where(mask, 0.0, LOWEST[q.dtype]).to(q.dtype)
    scores = torch.matmul(q, k.transpose(2, 3)) * SIZE**-0.5 + bias
    return torch.matmul(F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype), v)


def extended(q, k, v, mask):
    """A mask of 0 and 1 that becomes a product with the lowest number."""
    bias = (1.0 - mask.to(q.dtype)) * LOWEST[q.dtype]
    return (q @ k.transpose(-1, -2) + bias).softmax(-1) @ v


def capped(q, k, v, mask):
    scores = torch.tanh(q @ k.transpose(2, 3) * 0.4 / 5.0) * 5.0
    return (scores + torch.where(mask, 0.0, LOWEST[q.dtype]).to(q.dtype)).softmax(-1) @ v


SPELLINGS = [scaled_product, added_number, causal, divided, times_before, in_single, extended, capped]


class Attention(nn.Module):
    """Attention of heads that come side by side, with a cache or without; bfloat16 is inside only."""

    def __init__(self, spelling, dtype: torch.dtype, key_heads: int):
        super().__init__()
        self.spelling, self.dtype, self.key_heads = spelling, dtype, key_heads

    def forward(self, q, k, v, mask, *past):
        def heads(x, count):
            return x.to(self.dtype).view(x.shape[0], x.shape[1], count, SIZE).transpose(1, 2)

        q, k, v = heads(q, HEADS), heads(k, self.key_heads), heads(v, self.key_heads)
        if past:
            k, v = (torch.cat((old.to(self.dtype), new), dim=2) for old, new in zip(past, (k, v), strict=True))
        y = self.spelling(q, repeated(k), repeated(v), mask).transpose(1, 2)
        results = (y.reshape(q.shape[0], q.shape[2], HEADS * SIZE), *((k, v) if past else ()))
        return tuple(outward(x) for x in results)


def outward(x: torch.Tensor) -> torch.Tensor:
    """onnxruntime's Python interface cannot pass bfloat16."""
    return x.float() if x.dtype == torch.bfloat16 else x


def inputs(dtype: torch.dtype, rows: int, key_heads: int, past: int = 0) -> tuple:
    torch.manual_seed(0)
    crossing = torch.float32 if dtype == torch.bfloat16 else dtype
    widths = [HEADS, key_heads, key_heads]
    rest = [torch.randn(2, rows, width * SIZE).to(crossing) for width in widths]
    old = [torch.randn(2, key_heads, past, SIZE).to(crossing) for _ in range(2)] if past else []
    return (*rest, seen(rows, rows + past), *old)


def exported(path, model: nn.Module, args: tuple, opset: int, **options) -> onnx.ModelProto:
    """The file, once its numbers are those of PyTorch."""
    modelexport.export(model.eval(), args, path, opset_version=opset, **options)
    found = onnx.load(path)
    onnx.checker.check_model(found)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feeds = {given.name: x.numpy() for given, x in zip(session.get_inputs(), args, strict=True)}
    with torch.no_grad():
        want = [x.numpy() for x in model(*args)]
    dtype = str(model.dtype).removeprefix("torch.")
    support.assert_all_close(session.run(None, feeds), want, [dtype] * len(want))
    return found


def operators(found: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in all_nodes(found.graph)]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype).removeprefix("torch."))
@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.__name__)
def test_every_spelling_gives_the_numbers_of_pytorch(tmp_path, spelling, dtype, opset):
    model = Attention(spelling, dtype, key_heads=2)
    found = operators(exported(tmp_path / "model.onnx", model, inputs(dtype, 5, 2), opset))
    if opset >= 23 and dtype == torch.bfloat16:
        assert found.count("Attention") == 1
        assert "Softmax" not in found
    elif opset >= 23 and dtype == torch.float32:
        assert found.count("Attention") == 1
        assert "Softmax" not in found
        assert "Transpose" not in found
        assert "Expand" not in found, "heads are read unrepeated"
    elif opset < 23:
        assert "Attention" not in found


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype).removeprefix("torch."))
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("key_heads", [1, 2, 4])
@pytest.mark.parametrize("spelling", [scaled_product, in_single], ids=lambda spelling: spelling.__name__)
def test_a_cache_is_part_of_the_node(tmp_path, spelling, key_heads, rows, dtype):
    model = Attention(spelling, dtype, key_heads)
    found = exported(tmp_path / "model.onnx", model, inputs(dtype, rows, key_heads, past=6), 23)
    (node,) = [node for node in found.graph.node if node.op_type == "Attention"]
    if dtype != torch.bfloat16:
        assert list(node.input)[4:] == [given.name for given in found.graph.input][4:]
        assert list(node.output)[1:] == [result.name for result in found.graph.output][1:]
        assert "Concat" not in operators(found)


def test_nothing_is_fused_unless_wanted(tmp_path):
    model = Attention(divided, torch.float32, key_heads=4)
    args = inputs(torch.float32, 5, 4)
    found = operators(exported(tmp_path / "model.onnx", model, args, 23, fuse="none"))
    assert "Softmax" in found
    assert "Attention" not in found


class Masked(nn.Module):
    """A row that sees nothing: numbers close to the lowest leave equal weights, minus infinity leaves zeros."""

    dtype = torch.float32

    def __init__(self, is_written: bool):
        super().__init__()
        self.is_written = is_written

    def forward(self, q, k, v, bias):
        if self.is_written:
            return ((q @ k.transpose(2, 3) + bias).softmax(-1) @ v,)
        return (F.scaled_dot_product_attention(q, k, v, bias),)


# Minus infinity and a softmax written by hand give NaN in PyTorch, and zeros in the node: docs/attention.md.
@pytest.mark.parametrize(
    "is_written, low",
    [(True, LOWEST[torch.float32]), (True, -1e30), (False, LOWEST[torch.float32]), (False, -1e30), (False, -math.inf)],
)
def test_rows_that_see_nothing(tmp_path, is_written, low):
    q, k, v = (torch.randn(2, HEADS, 5, SIZE) for _ in range(3))
    bias = torch.randn(2, 1, 5, 5).masked_fill(torch.rand(2, 1, 5, 5) > 0.7, low)
    bias[1, :, 2] = low
    found = exported(tmp_path / "model.onnx", Masked(is_written), (q, k, v, bias), 23)
    assert operators(found).count("Attention") == 1


def test_rows_and_lengths_may_vary(tmp_path):
    model = Attention(scaled_product, torch.float32, key_heads=2)
    each, old = {0: DYNAMIC, 1: DYNAMIC}, {0: DYNAMIC, 2: DYNAMIC}
    shapes = (each, each, each, {0: DYNAMIC, 2: DYNAMIC, 3: DYNAMIC}, (old, old))
    args = inputs(torch.float32, 3, 2, past=6)
    path = tmp_path / "model.onnx"
    found = exported(path, model, args, 23, dynamic_shapes=shapes)
    assert operators(found).count("Attention") == 1
    assert "Concat" not in operators(found)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    other = inputs(torch.float32, 7, 2, past=2)
    feeds = {given.name: x.numpy() for given, x in zip(session.get_inputs(), other, strict=True)}
    want = [x.numpy() for x in model(*other)]
    support.assert_all_close(session.run(None, feeds), want, ["float32"] * 3)


def test_a_node_belongs_to_the_module_whose_work_it_is(tmp_path):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Attention(divided, torch.float32, key_heads=4)

        def forward(self, *args):
            return self.inner(*args)

    path = tmp_path / "model.onnx"
    result = modelexport.export(Block().eval(), inputs(torch.float32, 5, 4), path, opset_version=23, modules="all")
    (node,) = [node for node in result.nodes if node["op_type"] == "Attention"]
    assert node["module"] == "inner"
