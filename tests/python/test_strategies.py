"""Strategies on files that torch's exporters wrote: exactness, siblings, bytes, and tags that return after tools."""

import json

import onnx
import onnxruntime
import pytest
import strategy_harness
import support
import torch
import zoo_small

# One of each kind: a decoder, one with decomposed norms, convolutions with norms merged into them, windows.
NAMES = ["gpt2", "gemma2", "mobilenet_v3", "swin_transformer"]


@pytest.fixture(scope="module", params=NAMES)
def foreign(request, tmp_path_factory):
    """A folder with `model.pt2` and `dynamo.onnx` of one small architecture."""
    folder = tmp_path_factory.mktemp(request.param)
    torch.manual_seed(0)
    (architecture,) = [entry for entry in zoo_small.ARCHITECTURES if entry.name == request.param]
    model, args, kwargs = architecture.build()
    with torch.no_grad():
        program = torch.export.export(model.eval(), args, kwargs, strict=False)
        torch.export.save(program, folder / "model.pt2")
        torch.onnx.export(
            program, args, folder / "dynamo.onnx", kwargs=kwargs, dynamo=True, external_data=False, verbose=False
        )
    return folder


def measured(folder, strategy):
    evidence = folder / "model.pt2"
    ((_, result), *_) = strategy_harness.measure(str(support.binary()), strategy, folder, evidence, [])
    return result


def test_torch_metadata_gives_exact_tags(foreign):
    result = measured(foreign, "enhanced_semantic")
    assert (result["exact"], result["coverage"]) == (1.0, 1.0)


def test_usage_of_parameters_places_most_nodes(foreign):
    result = measured(foreign, "usage_based")
    assert result["coverage"] == 1.0
    assert result["exact"] >= 0.8 and result["chain"] >= 0.95, result


@pytest.mark.parametrize("strategy", ["usage_based", "fx_graph"])
def test_no_node_of_an_instance_carries_a_tag_of_its_sibling(foreign, strategy, tmp_path):
    """Siblings: modules of one class whose paths differ in one number."""
    model = onnx.load(str(foreign / "dynamo.onnx"))
    truth = strategy_harness.dynamo_truth(model)
    source = tmp_path / "model.onnx"
    source.write_bytes(strategy_harness.blind(model).SerializeToString())
    sidecar = strategy_harness.tag(
        str(support.binary()), source, "--strategy", strategy, "--evidence", foreign / "model.pt2"
    )
    strays = [
        (node["op_type"], node["module"], path)
        for node, path in zip(sidecar["nodes"], truth, strict=True)
        if path is not None and first_number_differs(node["module"], path)
    ]
    assert len(strays) <= 0.02 * len(truth), strays


def first_number_differs(found, expected):
    """Whether two paths part at a number: `layer.0.a` and `layer.1.b`."""
    for mine, theirs in zip(found.split("."), expected.split("."), strict=False):
        if mine != theirs:
            return mine.isdigit() and theirs.isdigit()
    return False


def test_without_its_tags_the_file_is_what_it_was(foreign, tmp_path):
    source, tagged, stripped = foreign / "dynamo.onnx", tmp_path / "tagged.onnx", tmp_path / "stripped.onnx"
    support.modelexport("tag", source, "-o", tagged, "--evidence", foreign / "model.pt2", "--strategy", "usage_based")
    onnx.checker.check_model(str(tagged))
    onnxruntime.InferenceSession(str(tagged), providers=["CPUExecutionProvider"])
    for node in onnx.load(str(tagged)).graph.node:
        assert json.loads(node.doc_string)["hierarchy_path"].startswith("/")
    support.modelexport("strip", tagged, "-o", stripped)
    assert stripped.read_bytes() == source.read_bytes()


def test_tags_return_after_the_optimiser_and_the_quantiser(foreign):
    tools = ("onnxruntime basic", "onnxruntime extended", "onnxruntime all", "quantize_dynamic")
    rows = strategy_harness.measure_retag(str(support.binary()), foreign / "dynamo.onnx", tools)
    assert rows
    for tool, result in rows:
        assert result["coverage"] == 1.0 and result["exact"] >= 0.97, (tool, result)


def test_strategies_are_compared(foreign):
    ended = support.modelexport(
        "strategies", foreign / "dynamo.onnx", "--evidence", foreign / "model.pt2", "--format", "json"
    )
    report = json.loads(ended.stdout)
    assert report["has_truth"]
    by_name = {row["strategy"]: row for row in report["strategies"]}
    assert {"fx_graph", "enhanced_semantic", "usage_based"} <= set(by_name)
    for row in by_name.values():
        agreement = row["agreement"]
        assert row["coverage"] == 1.0 and 0 < agreement["exact"] <= agreement["in_chain"] <= agreement["known"]
    assert by_name["enhanced_semantic"]["agreement"]["exact"] == by_name["enhanced_semantic"]["agreement"]["known"]
