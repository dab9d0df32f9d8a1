"""Functions that models spell out in many nodes become one operator, with the numbers that PyTorch has."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from torch import nn

import modelexport
import support
from exported import Exported

WIDTH, HEADS = 64, 4
OPSETS = (18, 20, 23, 24)
SIZES = ((2, 7), (1, 1), (3, 40))


class Model(nn.Module):
    """`function` of a tensor, a weight and a bias, all in `dtype`; in and out it is `float32`, which every runtime takes."""

    def __init__(self, function: Callable, dtype: torch.dtype):
        super().__init__()
        self.function, self.dtype = function, dtype
        self.weight = nn.Parameter((1 + 0.3 * torch.randn(WIDTH)).to(dtype))
        self.bias = nn.Parameter((0.3 * torch.randn(WIDTH)).to(dtype))

    def forward(self, x):
        return self.function(x.to(self.dtype), self.weight, self.bias).to(torch.float32)


# ---- RMS normalisation


def mean_square(x):
    return x.pow(2).mean(-1, keepdim=True)


def weight_after_the_cast(x, weight, _):
    wide = x.float()
    return weight * (wide * torch.rsqrt(mean_square(wide) + 1e-6)).to(x.dtype)


def weight_before_the_cast(x, weight, _):
    wide = x.float()
    return (weight.float() * (wide * torch.rsqrt(mean_square(wide) + 1e-6))).to(x.dtype)


def one_plus_the_weight(x, weight, _):
    wide = x.float()
    normal = wide * torch.rsqrt(mean_square(wide) + 1e-6)
    return (normal * (1.0 + weight.float())).to(x.dtype)


def over_the_root(x, weight, _):
    wide = x.float()
    return (wide / torch.sqrt((wide * wide).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * weight


def by_a_power(x, _, __):
    wide = x.float()
    return (wide * torch.pow(mean_square(wide) + 1e-5, -0.5)).to(x.dtype)


def mean_in_float32_only(x, weight, _):
    variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
    x = x * torch.rsqrt(variance + 1e-6)
    return weight * x.to(weight.dtype)


# ---- layer normalisation


def by_the_mean_of_squares(x, weight, bias):
    wide = x.float()
    centered = wide - wide.mean(-1, keepdim=True)
    normal = centered * torch.rsqrt(mean_square(centered) + 1e-5)
    return (weight.float() * normal + bias.float()).to(x.dtype)


def by_the_variance(x, weight, bias):
    wide = x.float()
    mean, variance = wide.mean(-1, keepdim=True), wide.var(-1, keepdim=True, unbiased=False)
    return ((wide - mean) / torch.sqrt(variance + 1e-5)).to(x.dtype) * weight + bias


def without_a_bias(x, weight, _):
    wide = x.float()
    centered = wide - wide.mean(-1, keepdim=True)
    return weight * (centered / (mean_square(centered) + 1e-5).sqrt()).to(x.dtype)


# ---- activations


def by_erf(x, *_):
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


def by_erf_in_another_order(x, *_):
    return (torch.erf(x * 0.7071067811865476) + 1) * x / 2


def by_tanh(x, *_):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


def by_tanh_of_a_factored_cubic(x, *_):
    return 0.5 * x * (1.0 + torch.tanh(x * 0.7978845608 * (1.0 + 0.044715 * x * x)))


def by_sigmoid(x, *_):
    return x * torch.sigmoid(1.702 * x)


def gated(x, weight, _):
    return nn.functional.silu(x) * (x * weight)


# ---- rotary embedding


def vectors(x):
    return x.view(*x.shape[:2], HEADS, WIDTH // HEADS).transpose(1, 2)


def frequencies(x, size, per_sequence=False):
    places = torch.arange(x.shape[-2], device=x.device)[None].float()
    if per_sequence:
        places = places + torch.arange(x.shape[0], device=x.device)[:, None].float()
    return places[:, :, None] * (10000.0 ** (-torch.arange(0, size, 2).float() / size))


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)


def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)


def angles(frequencies, dtype, axis=1):
    return [f(frequencies).to(dtype).unsqueeze(axis) for f in (torch.cos, torch.sin)]


def halves(x, *_):
    x = vectors(x)
    f = frequencies(x, x.shape[-1])
    cos, sin = angles(torch.cat((f, f), -1), x.dtype)
    return x * cos + rotate_half(x) * sin


def places_of_each_sequence(x, *_):
    x = vectors(x)
    f = frequencies(x, x.shape[-1], per_sequence=True)
    cos, sin = angles(torch.cat((f, f), -1), x.dtype)
    return (rotate_half(x) * sin) + (x * cos)


def some_of_each_vector(x, *_):
    x = vectors(x)
    f = frequencies(x, 8)
    cos, sin = angles(torch.cat((f, f), -1), x.dtype)
    front, back = x[..., :8], x[..., 8:]
    return torch.cat((front * cos + rotate_half(front) * sin, back), -1)


def neighbours(x, *_):
    x = vectors(x)
    cos, sin = angles(frequencies(x, x.shape[-1]).repeat_interleave(2, -1), x.dtype)
    return x * cos + rotate_every_two(x) * sin


def heads_after_the_sequence(x, *_):
    x = vectors(x).transpose(1, 2)
    cos, sin = angles(frequencies(x.transpose(1, 2), x.shape[-1]).repeat_interleave(2, -1), x.dtype, axis=2)
    return x * cos + rotate_every_two(x) * sin


def half_by_half(x, *_):
    x = vectors(x)
    cos, sin = angles(frequencies(x, x.shape[-1]), x.dtype)
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


@dataclass(frozen=True)
class Expected:
    operator: str
    since: int


SPELLINGS: dict[Callable, Expected] = {
    **dict.fromkeys(
        (
            weight_after_the_cast,
            weight_before_the_cast,
            one_plus_the_weight,
            over_the_root,
            by_a_power,
            mean_in_float32_only,
        ),
        Expected("RMSNormalization", 23),
    ),
    **dict.fromkeys((by_the_mean_of_squares, by_the_variance, without_a_bias), Expected("LayerNormalization", 17)),
    **dict.fromkeys((by_erf, by_erf_in_another_order, by_tanh, by_tanh_of_a_factored_cubic), Expected("Gelu", 20)),
    **dict.fromkeys((by_sigmoid, gated), Expected("Swish", 24)),
    **dict.fromkeys(
        (halves, places_of_each_sequence, some_of_each_vector, neighbours, heads_after_the_sequence, half_by_half),
        Expected("RotaryEmbedding", 23),
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("function", SPELLINGS, ids=lambda function: function.__name__)
def test_numbers_of_every_spelling(function, dtype, tmp_path):
    torch.manual_seed(0)
    model = Model(function, getattr(torch, dtype)).eval()
    axes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    program = torch.export.export(model, (torch.randn(2, 7, WIDTH),), dynamic_shapes=(axes,))
    inputs = [torch.randn(*size, WIDTH) for size in SIZES]
    with torch.no_grad():
        wanted = [model(x).numpy() for x in inputs]
    expected = SPELLINGS[function]
    for opset in OPSETS:
        path = tmp_path / f"{opset}.onnx"
        result = modelexport.export(program, f=path, opset_version=opset)
        operators = {node["op_type"] for node in result.nodes}
        assert (expected.operator in operators) == (opset >= expected.since), (opset, operators)
        exported = Exported(path)
        exported.assert_accepted()
        for x, y in zip(inputs, wanted, strict=True):
            support.assert_close(run(exported, x), y, dtype, f"opset {opset}, {tuple(x.shape)}")


def run(exported, x):
    """By onnxruntime, whatever types there are inside: a type without a kernel is an error."""
    import onnxruntime

    session = onnxruntime.InferenceSession(exported.path, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x.numpy()})[0]


def test_a_graph_stays_as_it_is_spelled_out(tmp_path):
    torch.manual_seed(0)
    model = Model(by_erf, torch.float32).eval()
    result = modelexport.export(model, (torch.randn(2, 3, WIDTH),), tmp_path / "m.onnx", fuse="none")
    assert "Erf" in {node["op_type"] for node in result.nodes}
    with pytest.raises(ValueError, match=r'^fuse "all" is not known; there are none, standard$'):
        modelexport.export(model, (torch.randn(2, 3, WIDTH),), tmp_path / "m.onnx", fuse="all")


def test_a_fused_norm_belongs_to_its_module(tmp_path):
    fixture = next(fixture for fixture in support.all_fixtures() if fixture.name == "llama_tiny")
    exported = Exported.export(fixture.program, tmp_path / "m.onnx", "--opset", "23")
    classes = {module["path"]: module["class"] for module in exported.sidecar["modules"]}
    norms = [node for node in exported.sidecar["nodes"] if node["op_type"] == "RMSNormalization"]
    assert len(norms) == 5
    assert {classes[node["module"]].rsplit(".", 1)[-1] for node in norms} == {"LlamaRMSNorm"}
    turned = [node for node in exported.sidecar["nodes"] if node["op_type"] == "RotaryEmbedding"]
    assert len(turned) == 4
    assert {classes[node["module"]].rsplit(".", 1)[-1] for node in turned} == {"LlamaAttention"}
