"""`HierarchyExporter` with every strategy over both of torch's exporters, and `SemanticMapper` over their files."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import modelexport
import python_models

OVER_TORCH = ["htp", "fx_graph", "enhanced_semantic", "usage_based"]
ROUTES = [
    ("native", "dynamo"),
    *((strategy, exporter) for strategy in OVER_TORCH for exporter in ("dynamo", "torchscript")),
]


@pytest.fixture(scope="module")
def stack():
    torch.manual_seed(0)
    return python_models.Stack().eval(), torch.randn(2, 8)


@pytest.fixture(scope="module", params=["dynamo", "torchscript"])
def exported(request, stack, tmp_path_factory):
    """A file of one of torch's exporters, the trace and the captured program of its model."""
    folder = tmp_path_factory.mktemp(request.param)
    model, x = stack
    metadata = modelexport.TracingHierarchyBuilder().trace_model_execution(model, x)
    metadata.to_json(folder / "trace.json")
    torch.export.save(torch.export.export(model, (x,)), folder / "model.pt2")
    return modelexport.export_to_onnx(model, x, folder / "m.onnx", exporter=request.param), metadata


@pytest.mark.parametrize("strategy, exporter", ROUTES)
def test_every_strategy_gives_a_tagged_file_that_computes_the_same(strategy, exporter, stack, tmp_path):
    model, x = stack
    steps = []
    options = {"exporter": exporter} if strategy != "native" else {}
    statistics = modelexport.HierarchyExporter(strategy=strategy, **options).export(
        model, x, tmp_path / "m.onnx", progress=steps.append
    )
    assert (statistics["strategy"], statistics["coverage"]) == (strategy, 1.0)
    assert statistics["files"] == [str(tmp_path / "m.onnx"), str(tmp_path / "m_hierarchy.json")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.onnx", "m_hierarchy.json"], "nothing else is left"
    assert steps == ["trace", "export", "tag", *(["write"] if strategy == "native" else [])]
    assert set(steps) | {"total"} <= set(statistics["seconds"])
    proto = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(proto)
    paths = [json.loads(node.doc_string)["hierarchy_path"] for node in proto.graph.node]
    assert len(paths) == statistics["nodes"]
    owners = {path.split("/")[2] for path in paths if path.count("/") > 1}
    assert owners == {"Block.first", "Block.second"}
    assert not any(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    with torch.no_grad():
        want = model(x).numpy()
    got = session.run(None, {session.get_inputs()[0].name: x.numpy()})[0]
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_choices_of_tags_reach_the_file(stack, tmp_path):
    model, x = stack
    for strategy in ("native", "usage_based"):
        exporter = modelexport.HierarchyExporter(
            strategy=strategy, torch_nn_exceptions=["Linear"], tag_format="class", embed="doc-string"
        )
        exporter.export(model, x, tmp_path / "m.onnx")
        nodes = onnx.load(tmp_path / "m.onnx").graph.node
        paths = {json.loads(node.doc_string)["hierarchy_path"] for node in nodes}
        assert "/Stack/Block/Linear" in paths
        assert not any("LayerNorm" in path for path in paths)
        assert not any(entry.key.startswith("modelexport.") for node in nodes for entry in node.metadata_props)


def test_wrong_choices_and_files_that_exist_are_refused(stack, tmp_path):
    model, x = stack
    with pytest.raises(
        ValueError, match="expected one of native, fx_graph, htp, enhanced_semantic, usage_based, not 'fx'"
    ):
        modelexport.HierarchyExporter(strategy="fx")
    for strategy in ("native", "usage_based"):
        (tmp_path / "m.onnx").write_text("mine")
        with pytest.raises(FileExistsError, match=r"m.onnx"):
            modelexport.HierarchyExporter(strategy=strategy).export(model, x, tmp_path / "m.onnx", overwrite=False)
        assert (tmp_path / "m.onnx").read_text() == "mine"


def test_a_pass_that_fails_leaves_nothing(tmp_path):
    model = python_models.Raises().eval()
    for strategy in ("native", "htp"):
        with pytest.raises(RuntimeError, match="forward does not like this"):
            modelexport.HierarchyExporter(strategy=strategy).export(model, torch.randn(2, 8), tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())
    assert not hasattr(model, "seen")


@pytest.mark.parametrize("strategy", OVER_TORCH)
def test_a_mapper_knows_every_node_and_module(strategy, exported, stack):
    path, metadata = exported
    evidence = path.with_name("model.pt2") if strategy == "fx_graph" else metadata
    mapper = modelexport.SemanticMapper(path, evidence, strategy=strategy)
    mapped = mapper.map_all_nodes()
    assert list(mapped) == [node.name for node in onnx.load(path).graph.node]
    assert mapper.module_tags()["second.norm"] == "/Stack/Block.second/LayerNorm"
    assert set(mapper.module_tags()) == {name for name, _ in stack[0].named_modules()}
    for node in mapped.values():
        assert set(node) == {"path", "tags", "module", "method", "confidence"}
        assert node["path"] in node["tags"]
        assert 0 <= node["confidence"] <= 1
    assert {"first", "second"} <= {node["module"].split(".")[0] for node in mapped.values()}


def test_evidence_may_be_a_file(exported):
    path, metadata = exported
    of_object = modelexport.SemanticMapper(path, metadata, strategy="usage_based").map_all_nodes()
    of_file = modelexport.SemanticMapper(path, path.with_name("trace.json"), strategy="usage_based").map_all_nodes()
    assert of_object == of_file


def test_evidence_that_does_not_fit_is_told(exported):
    path, metadata = exported
    with pytest.raises(ValueError, match="the strategy fx_graph needs"):
        modelexport.SemanticMapper(path, metadata, strategy="fx_graph").map_all_nodes()
    with pytest.raises(ValueError, match="strategy: expected one of fx_graph"):
        modelexport.SemanticMapper(path, metadata, strategy="guess")
    with pytest.raises(FileNotFoundError, match=r"none.pt2"):
        modelexport.SemanticMapper(path, path.with_name("none.pt2"), strategy="fx_graph").map_all_nodes()
