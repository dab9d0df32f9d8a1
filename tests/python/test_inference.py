"""Types and shapes that modelexport infers, against onnx, the results of onnx's backend tests, and onnxruntime."""

import json
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, shape_inference

import modelexport
from fused_operators import CALLS, Call
from modelexport import _native

# Longer inputs say nothing about shapes.
LONGEST_CONTENT = 64

# Operators of which nothing is inferred: they are not ONNX's own.
OTHER_DOMAINS = ("ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")


@dataclass(frozen=True)
class Case:
    """A model of onnx's backend tests with inputs and results."""

    name: str
    model: onnx.ModelProto
    inputs: list
    outputs: list


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """All node cases. They compute their results with onnx's reference, whose pools take most of the time."""
    from onnx.backend.test.case import base
    from onnx.reference.ops import op_pool_common

    def pool(padded: np.ndarray, x_shape: list[int], *arguments, **options) -> np.ndarray:
        return np.zeros([*x_shape[:2], *arguments[2]], padded.dtype)

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(op_pool_common, "pool", pool)
        # The source of each case, for onnx's documentation.
        patch.setattr(base, "process_snippet", lambda *_: [])
        from onnx.backend.test.case.node import collect_testcases

        found = collect_testcases(None)
    return [Case(case.name, case.model, *(case.data_sets or [([], [])])[0]) for case in found]


def grounded(case: Case) -> onnx.ModelProto:
    """The model with small inputs as constants, and with the shapes of the results as the shapes of its outputs."""
    model = copy(case.model)
    for info, value in zip(list(model.graph.input), case.inputs, strict=False):
        is_array = isinstance(value, np.ndarray | np.generic) and info.type.HasField("tensor_type")
        if is_array and value.size <= LONGEST_CONTENT:
            model.graph.input.remove(info)
            tensor = numpy_helper.from_array(np.asarray(value), info.name)
            tensor.data_type = info.type.tensor_type.elem_type
            model.graph.initializer.append(tensor)
    for info, value in zip(model.graph.output, case.outputs, strict=False):
        if isinstance(value, np.ndarray) and info.type.HasField("tensor_type"):
            declare(info, info.type.tensor_type.elem_type, value.shape)
    return model


def declare(info: onnx.ValueInfoProto, elem_type: int, shape: tuple[int, ...]) -> None:
    info.CopyFrom(helper.make_tensor_value_info(info.name, elem_type, shape))


def copy(model: onnx.ModelProto) -> onnx.ModelProto:
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    return copied


def inferred(model: onnx.ModelProto) -> onnx.ModelProto:
    """With the types of all values, as far as onnx tells."""
    try:
        return shape_inference.infer_shapes(model, data_prop=True)
    except shape_inference.InferenceError:
        return model


def faults(model: onnx.ModelProto, folder: Path) -> list[str]:
    """What modelexport has against the types of a file."""
    path = folder / "model.onnx"
    onnx.save(model, path)
    findings = modelexport.validate(path)["findings"]
    return [finding["message"] for finding in findings if finding["check"] == "type"]


def test_onnx_and_its_reference_are_never_contradicted(cases: list[Case], tmp_path: Path) -> None:
    contradicted = {}
    for case in cases:
        # With the contents of inputs and without.
        for model in (case.model, grounded(case)):
            if found := faults(inferred(model), tmp_path):
                contradicted[case.name] = found
    assert len(cases) > 1800
    assert contradicted == {}


def test_as_much_is_known_as_onnx_knows(cases: list[Case], tmp_path: Path) -> None:
    """Of each output of each node, without any declared type but those of the inputs."""
    counts = np.zeros(5, int)
    for case in cases:
        model = grounded(case)
        del model.graph.value_info[:]
        for info in model.graph.output:
            info.ClearField("type")
        ours = known_to_us(model, tmp_path)
        answer = inferred(model).graph
        theirs = {info.name: info.type for info in [*answer.value_info, *answer.output]}
        for node in model.graph.node:
            if node.domain not in OTHER_DOMAINS:
                for name in filter(None, node.output):
                    counts += [1, *ours.get(name, (False, False)), *known_to_onnx(theirs.get(name))]
    outputs, our_types, our_shapes, their_types, their_shapes = counts
    print(f"{outputs} outputs; types known: {our_types}, by onnx: {their_types}; ", end="")
    print(f"shapes known: {our_shapes}, by onnx: {their_shapes}")
    assert our_types >= 0.999 * outputs
    assert our_shapes >= their_shapes


def known_to_us(model: onnx.ModelProto, folder: Path) -> dict[str, tuple[bool, bool]]:
    """By value: whether its type is known, and whether all of its sizes are."""
    path = folder / "model.onnx"
    onnx.save(model, path)
    _, output, _ = _native.run_tool(["modelexport", "analyze", "--format=model-explorer", "--", str(path)])
    known = {}
    for node in json.loads(output)["graphs"][0]["nodes"]:
        for value in node["outputsMetadata"]:
            attributes = {each["key"]: each["value"] for each in value["attrs"]}
            text = attributes.get("shape", "")
            known[attributes["tensor_name"]] = (
                text != "" and text[0] != "[",
                re.fullmatch(r"\w+\[[\d, ]*\]", text) is not None,
            )
    return known


def known_to_onnx(found: onnx.TypeProto | None) -> tuple[bool, bool]:
    if found is None or found.WhichOneof("value") is None:
        return False, False
    shape = found.tensor_type.shape if found.tensor_type.HasField("shape") else None
    return True, shape is not None and all(dim.HasField("dim_value") for dim in shape.dim)


# Changes of a declaration, each of which makes it wrong.
def other_type(elem_type: int, shape: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return (TensorProto.INT16 if elem_type != TensorProto.INT16 else TensorProto.FLOAT), shape


def other_sizes(elem_type: int, shape: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return elem_type, tuple(size + 1 for size in shape)


def other_rank(elem_type: int, shape: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return elem_type, (*shape, 1)


# Their results depend on more than shapes and small integers, or are no tensors.
OPEN_SIZES = {"ImageDecoder"}


@pytest.mark.parametrize("change", [other_type, other_sizes, other_rank])
def test_wrong_declarations_are_found(change: Callable, cases: list[Case], tmp_path: Path) -> None:
    """Of each operator, in one of its cases that give a tensor with axes."""
    is_found: dict[str, bool] = {}
    for case, info in tensors_with_axes(cases):
        operator = case.model.graph.node[0].op_type
        if is_found.get(operator):
            continue
        model = grounded(case)
        wrong = next(other for other in model.graph.output if other.name == info)
        dims = tuple(dim.dim_value for dim in wrong.type.tensor_type.shape.dim)
        declare(wrong, *change(wrong.type.tensor_type.elem_type, dims))
        is_found[operator] = faults(model, tmp_path) != []
    assert len(is_found) > 170
    assert {operator for operator, found in is_found.items() if not found} == (
        OPEN_SIZES if change is other_sizes else set()
    )


def tensors_with_axes(cases: list[Case]) -> Iterator[tuple[Case, str]]:
    for case in cases:
        if len(case.model.graph.node) == 1 and case.model.graph.node[0].domain not in OTHER_DOMAINS:
            for info, value in zip(case.model.graph.output, case.outputs, strict=False):
                if isinstance(value, np.ndarray) and value.ndim and info.type.HasField("tensor_type"):
                    yield case, info.name
                    break


@pytest.mark.parametrize("call", CALLS, ids=[f"{i}-{call.operator}" for i, call in enumerate(CALLS)])
def test_fused_operators_give_what_onnxruntime_gives(call: Call, tmp_path: Path) -> None:
    import onnxruntime

    model = call.model()
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    results = session.run(None, call.feeds())
    for info, value in zip(model.graph.output, results, strict=True):
        declare(info, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
    assert faults(model, tmp_path) == []
    for change in (other_type, other_sizes, other_rank):
        wrong = copy(model)
        for info, value in zip(wrong.graph.output, results, strict=True):
            declare(info, *change(helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
        assert len(faults(wrong, tmp_path)) == len(results), change.__name__


@pytest.mark.parametrize("opset", range(21, 26))
def test_stated_types_of_quantised_values_are_believed(opset: int, tmp_path: Path) -> None:
    stated = {"output_dtype": TensorProto.INT4}
    nodes = [helper.make_node("QuantizeLinear", ["x", "scale"], ["q"], **stated)]
    # Until opset 23, the scale alone said what comes back.
    back, dequantised = (
        (TensorProto.FLOAT16, {"output_dtype": TensorProto.FLOAT16}) if opset >= 23 else (TensorProto.FLOAT, {})
    )
    nodes.append(helper.make_node("DequantizeLinear", ["q", "scale"], ["y"], **dequantised))
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4]),
        helper.make_tensor_value_info("scale", TensorProto.FLOAT, []),
    ]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", back, ["n", 4])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    typed = inferred(model)
    assert {info.name for info in typed.graph.value_info} == {"q"}
    assert faults(typed, tmp_path) == []
    typed.graph.value_info[0].type.tensor_type.elem_type = TensorProto.UINT8
    assert faults(typed, tmp_path) == ['"q": the graph declares type uint8 and type int4 of what QuantizeLinear gives']
