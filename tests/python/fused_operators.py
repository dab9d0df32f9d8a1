"""Calls of operators of onnxruntime's own domain, which exporters and optimisers fuse others into."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper

DOMAIN = "com.microsoft"


@dataclass(frozen=True)
class Call:
    operator: str
    # `None` is an input that is left out.
    inputs: list[np.ndarray | None]
    outputs: int = 1
    attributes: dict[str, Any] = field(default_factory=dict)

    def model(self) -> onnx.ModelProto:
        """The call as a model whose inputs are typed and whose outputs are not."""
        names = ["" if value is None else f"x{i}" for i, value in enumerate(self.inputs)]
        given = [(name, value) for name, value in zip(names, self.inputs, strict=True) if value is not None]
        results = [f"y{i}" for i in range(self.outputs)]
        node = helper.make_node(self.operator, names, results, domain=DOMAIN, **self.attributes)
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in given
        ]
        outputs = [onnx.ValueInfoProto(name=name) for name in results]
        graph = helper.make_graph([node], self.operator, inputs, outputs)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(DOMAIN, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def feeds(self) -> dict[str, np.ndarray]:
        return {f"x{i}": value for i, value in enumerate(self.inputs) if value is not None}


def _f(*shape: int) -> np.ndarray:
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def _u8(*shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape)) % 7).astype(np.uint8).reshape(shape)


def _scale() -> np.ndarray:
    return np.array(0.5, np.float32)


def _zero() -> np.ndarray:
    return np.array(3, np.uint8)


_Q = (_u8(2, 3, 4), _scale(), _zero())
_IMAGE = (_u8(1, 4, 6, 5), _scale(), _zero())
_HEADS = {"num_heads": 4}
_GROUPS = {"num_heads": 4, "kv_num_heads": 2}
_SKIP = [_f(2, 3, 8), _f(2, 3, 8), _f(8)]
_LENGTHS = [np.array([2, 2], np.int32), np.array(3, np.int32)]
_CACHE = np.zeros((2, 2, 5, 8), np.float32)
_LATER = [np.array([5, 5], np.int32), np.array(6, np.int32)]

CALLS = [
    Call("Attention", [_f(2, 3, 16), _f(16, 48), _f(48)], attributes=_HEADS),
    Call("Attention", [_f(2, 3, 16), _f(16, 40), _f(40)], attributes={**_HEADS, "qkv_hidden_sizes": [16, 16, 8]}),
    Call("Attention", [_f(2, 3, 16), _f(16, 48), _f(48), None, _f(2, 2, 4, 5, 4)], 2, _HEADS),
    Call("BiasGelu", [_f(2, 3, 8), _f(8)]),
    Call("DequantizeLinear", [_u8(2, 3), _scale(), _zero()]),
    Call("DynamicQuantizeMatMul", [_f(2, 3, 8), _u8(8, 5), _scale(), _zero()]),
    Call(
        "EmbedLayerNormalization",
        [np.zeros((2, 3), np.int32), np.zeros((2, 3), np.int32), _f(9, 8), _f(5, 8), _f(2, 8), _f(8), _f(8)],
        2,
    ),
    Call("FastGelu", [_f(2, 3, 8)]),
    Call("FusedConv", [_f(1, 3, 8, 8), _f(6, 3, 3, 3)], attributes={"activation": "Relu", "strides": [2, 2]}),
    Call("FusedGemm", [_f(3, 8), _f(5, 8), _f(5)], attributes={"activation": "Relu", "transB": 1}),
    Call("FusedMatMul", [_f(2, 8, 3), _f(2, 5, 8)], attributes={"transA": 1, "transB": 1}),
    Call("Gelu", [_f(2, 3)]),
    Call(
        "GatherBlockQuantized", [_u8(6, 16), np.array([[1, 2, 3]]), _f(6, 2)], attributes={"block_size": 16, "bits": 4}
    ),
    Call("GroupQueryAttention", [_f(2, 3, 32), _f(2, 3, 16), _f(2, 3, 16), None, None, *_LENGTHS], 3, _GROUPS),
    Call("GroupQueryAttention", [_f(2, 3, 64), None, None, None, None, *_LENGTHS], 3, _GROUPS),
    Call("GroupQueryAttention", [_f(2, 1, 32), _f(2, 1, 16), _f(2, 1, 16), _CACHE, _CACHE, *_LATER], 3, _GROUPS),
    Call("MatMulIntegerToFloat", [_u8(2, 3, 8), _u8(8, 5), _scale(), _scale()]),
    Call(
        "MatMulNBits", [_f(2, 3, 32), _u8(5, 1, 16), _f(5)], attributes={"K": 32, "N": 5, "bits": 4, "block_size": 32}
    ),
    Call("MultiHeadAttention", [_f(2, 3, 16), _f(2, 5, 16), _f(2, 5, 8)], 3, _HEADS),
    Call("MultiHeadAttention", [_f(2, 3, 32), _f(2, 4, 5, 8), _f(2, 4, 5, 8)], 1, _HEADS),
    Call(
        "MultiHeadAttention",
        [_f(2, 3, 16), _f(2, 3, 16), _f(2, 3, 16), None, None, None, _f(2, 4, 5, 4), _f(2, 4, 5, 4)],
        3,
        _HEADS,
    ),
    Call("QAttention", [_u8(2, 3, 16), _u8(16, 48), _f(48), _scale(), _scale()], attributes=_HEADS),
    Call("QGemm", [_u8(3, 8), _scale(), _zero(), _u8(5, 8), _scale(), _zero()], attributes={"transB": 1}),
    Call("QGemm", [_u8(3, 8), _scale(), _zero(), _u8(8, 5), _scale(), _zero(), None, _scale(), _zero()]),
    Call("QLinearAdd", [*_Q, _u8(4), _scale(), _zero(), _scale(), _zero()]),
    Call("QLinearAveragePool", [*_IMAGE, _scale(), _zero()], attributes={"kernel_shape": [3, 2], "strides": [2, 1]}),
    Call("QLinearConcat", [_scale(), _zero(), *_Q, *_Q], attributes={"axis": 1}),
    Call("QLinearGlobalAveragePool", [*_IMAGE, _scale(), _zero()]),
    Call("QLinearLeakyRelu", [*_Q, _scale(), _zero()]),
    Call("QLinearMul", [*_Q, _u8(3, 1), _scale(), _zero(), _scale(), _zero()]),
    Call("QLinearSigmoid", [*_Q, _scale(), _zero()]),
    Call("QLinearSoftmax", [*_Q, _scale(), _zero()], attributes={"axis": -1, "opset": 13}),
    Call("QLinearWhere", [np.ones((3, 4), bool), *_Q, _u8(4), _scale(), _zero(), _scale(), _zero()]),
    Call("QuantizeLinear", [_f(2, 3), _scale(), _zero()]),
    Call("QuickGelu", [_f(2, 3)]),
    Call("RotaryEmbedding", [_f(2, 3, 16), np.array([0]), _f(9, 2), _f(9, 2)], attributes=_HEADS),
    Call("SkipLayerNormalization", [*_SKIP, _f(8), _f(8)], 4),
    Call("SkipSimplifiedLayerNormalization", [*_SKIP, _f(8)], 4),
]
