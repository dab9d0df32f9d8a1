"""Evidence of another model is refused; what fits is measured, printed and recorded."""

import json
import pickle
from dataclasses import dataclass
from pathlib import Path

import onnx
import pytest
import torch
from torch import nn

import foreign_graphs
import modelexport
import support


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x + self.down(torch.relu(self.up(x))))


class Net(nn.Module):
    def __init__(self, width=16, depth=2, labels=3):
        super().__init__()
        self.layers = nn.ModuleList(Layer(width) for _ in range(depth))
        self.head = nn.Linear(width, labels)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


@dataclass
class Made:
    """One model in every form: what torch's exporters wrote, and evidence."""

    folder: Path

    def __truediv__(self, name):
        return self.folder / name


def make(model, folder, width=16) -> Made:
    model.eval()
    inputs = (torch.randn(2, 5, width),)
    with torch.no_grad():
        modelexport.TracingHierarchyBuilder().trace_model_execution(model, inputs).to_json(folder / "trace.json")
        program = torch.export.export(model, inputs)
        torch.export.save(program, folder / "model.pt2")
        torch.onnx.export(program, inputs, folder / "dynamo.onnx", dynamo=True, external_data=False, verbose=False)
        torch.onnx.export(model, inputs, folder / "torchscript.onnx", dynamo=False)
    foreign_graphs.write(foreign_graphs.blind(onnx.load(folder / "dynamo.onnx")), folder / "blind.onnx")
    support.modelexport("tag", folder / "dynamo.onnx", "-o", folder / "tagged.onnx")
    return Made(folder)


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    torch.manual_seed(0)
    return make(Net(), tmp_path_factory.mktemp("net"))


OTHERS = {"width": {"width": 24}, "depth": {"depth": 3}, "head": {"labels": 5}}


@pytest.fixture(scope="module", params=OTHERS)
def other(request, tmp_path_factory):
    torch.manual_seed(0)
    options = OTHERS[request.param]
    return make(Net(**options), tmp_path_factory.mktemp(request.param), options.get("width", 16))


EVIDENCE = ["model.pt2", "trace.json", "tagged.onnx", "tagged_hierarchy.json"]
GRAPHS = ["dynamo.onnx", "torchscript.onnx", "blind.onnx"]


def tag(graph, evidence, target, *options):
    done = support.run("tag", graph, "--evidence", evidence, "-o", target, "--format", "json", *options)
    return done, json.loads(done.stdout)


@pytest.mark.parametrize("evidence", EVIDENCE)
@pytest.mark.parametrize("graph", GRAPHS)
def test_evidence_of_the_model_fits(net, graph, evidence, tmp_path):
    done, told = tag(net / graph, net / evidence, tmp_path / "out.onnx")
    assert done.returncode == 0, done.stderr
    fit = told["fit"]
    assert fit["score"] >= fit["threshold"]
    assert fit["contradictions"] == 0
    recorded = json.loads((tmp_path / "out_hierarchy.json").read_text())["statistics"]["fit"]
    assert recorded == fit


@pytest.mark.parametrize("evidence", EVIDENCE)
@pytest.mark.parametrize("graph", GRAPHS)
def test_evidence_of_another_model_is_refused(net, other, graph, evidence, tmp_path):
    for here, there in ((net, other), (other, net)):
        done, told = tag(here / graph, there / evidence, tmp_path / "out.onnx")
        assert done.returncode == 1, told["fit"]
        assert not told["tagged"]
        assert told["fit"]["score"] < told["fit"]["threshold"]
        assert "is evidence of another model" in done.stderr
        assert told["fit"]["reasons"][0] in done.stderr
        assert "--force" in done.stderr
        assert list(tmp_path.iterdir()) == []


def test_force_writes_tags_of_low_confidence_and_validate_tells(net, other, tmp_path):
    target = tmp_path / "out.onnx"
    done, told = tag(net / "blind.onnx", other / "trace.json", target, "--force")
    assert done.returncode == 0
    assert told["fit"]["forced"]
    sidecar = json.loads((tmp_path / "out_hierarchy.json").read_text())
    assert sidecar["statistics"]["fit"]["forced"]
    assert max(node["confidence"] for node in sidecar["nodes"]) == pytest.approx(0.1)
    found = modelexport.validate(target)
    (finding,) = [finding for finding in found["findings"] if finding["check"] == "fit"]
    assert finding["message"].startswith("tagged with --force: the tags may be those of another model, the fit is")
    assert not found["valid"]


def test_validate_sees_the_sidecar_of_another_model_that_records_no_fit(net, other, tmp_path):
    target, beside = tmp_path / "out.onnx", tmp_path / "out_hierarchy.json"
    assert tag(net / "blind.onnx", other / "trace.json", target, "--force")[0].returncode == 0
    sidecar = json.loads(beside.read_text())
    del sidecar["statistics"]["fit"]
    beside.write_text(json.dumps(sidecar))
    assert "fit" in [finding["check"] for finding in modelexport.validate(target)["findings"]]
    # That of the model itself, without a record, is no finding.
    right = tmp_path / "right.onnx"
    tag(net / "dynamo.onnx", net / "trace.json", right)
    beside = tmp_path / "right_hierarchy.json"
    sidecar = json.loads(beside.read_text())
    del sidecar["statistics"]["fit"]
    beside.write_text(json.dumps(sidecar))
    assert modelexport.validate(right)["findings"] == []


def test_the_summary_tells_fit_and_who_placed_the_nodes(net, tmp_path):
    done = support.modelexport("tag", net / "dynamo.onnx", "-o", tmp_path / "a.onnx", "--evidence", net / "model.pt2")
    lines = {line.split()[0]: line.split(maxsplit=1)[1] for line in done.stdout.splitlines() if line.split()}
    assert lines["fit"].startswith("100%: 14 of 14 parameters, ")
    assert " by evidence, " in lines["placed"]
    assert lines["placed"].endswith(" by their neighbours")


def test_the_strategy_that_places_most_nodes_is_taken(net, tmp_path):
    _, told = tag(net / "torchscript.onnx", net / "model.pt2", tmp_path / "a.onnx")
    placed = {one["strategy"]: one["placed"] for one in told["tried"]}
    assert told["strategy"] == "enhanced_semantic"
    assert placed["enhanced_semantic"] > placed["fx_graph"]
    compared = modelexport.strategies(net / "torchscript.onnx", evidence=net / "model.pt2")
    assert compared["recommendation"]["strategy"] == "enhanced_semantic"
    assert compared["recommendation"]["tried"] == told["tried"]
    # Without names the captured graph tells most.
    _, told = tag(net / "blind.onnx", net / "model.pt2", tmp_path / "b.onnx")
    assert told["strategy"] == "fx_graph"
    text = support.modelexport("strategies", net / "blind.onnx", "--evidence", net / "model.pt2").stdout
    assert text.splitlines()[-1].startswith("recommended: fx_graph; nodes placed by evidence: ")


def test_scopes_in_node_names_are_enough(net, tmp_path):
    told = modelexport.tag(net / "torchscript.onnx", tmp_path / "a.onnx")
    assert (told["evidence_kind"], told["strategy"]) == ("scopes", "enhanced_semantic")
    nodes = {node["name"]: node["path"] for node in json.loads((tmp_path / "a_hierarchy.json").read_text())["nodes"]}
    assert nodes["/layers.1/up/MatMul"] == "/Module/layers.1/up"
    assert modelexport.validate(tmp_path / "a.onnx")["findings"] == []
    # What was told by path does not contradict the classes that evidence knows.
    modelexport.tag(tmp_path / "a.onnx", tmp_path / "b.onnx", evidence=net / "trace.json")
    modules = {module["path"]: module["tag"] for module in modelexport.tree(tmp_path / "b.onnx")["modules"]}
    assert modules["layers.1"] == "/Net/Layer.1"


def test_a_file_that_lost_half_of_its_tags_says_so(net, tmp_path):
    model = onnx.load(net / "tagged.onnx")
    for node in list(model.graph.node)[::2]:
        node.ClearField("doc_string")
        del node.metadata_props[:]
    half = tmp_path / "half.onnx"
    onnx.save(model, half)
    findings = [finding for finding in modelexport.validate(half)["findings"] if finding["check"] == "partly-tagged"]
    assert len(findings) == 1
    assert "--from" in findings[0]["message"]
    assert "--from" in modelexport.analyze(half)["diagnosis"]["text"]
    assert "--from" in support.modelexport("tag", half, "-o", tmp_path / "own.onnx").stdout
    done = support.modelexport("tag", half, "-o", tmp_path / "back.onnx", "--from", net / "tagged.onnx").stdout
    assert "--from" not in done


def test_python_raises_and_shows_the_fit(net, other, tmp_path):
    with pytest.raises(modelexport.EvidenceMismatch, match="is evidence of another model") as raised:
        modelexport.tag(net / "blind.onnx", tmp_path / "a.onnx", evidence=other / "trace.json")
    assert raised.value.fit["score"] < raised.value.fit["threshold"]
    assert pickle.loads(pickle.dumps(raised.value)).fit == raised.value.fit
    told = modelexport.tag(net / "blind.onnx", tmp_path / "a.onnx", evidence=other / "trace.json", force=True)
    assert told["fit"]["forced"]
    with pytest.raises(modelexport.EvidenceMismatch):
        modelexport.SemanticMapper(net / "blind.onnx", other / "trace.json").map_all_nodes()
    mapper = modelexport.SemanticMapper(net / "blind.onnx", other / "trace.json", force=True)
    assert max(node["confidence"] for node in mapper.map_all_nodes().values()) == pytest.approx(0.1)
    right = modelexport.SemanticMapper(net / "torchscript.onnx", net / "model.pt2", None)
    assert right.fit["score"] == 1.0
    assert right.hierarchy["strategy"] == "enhanced_semantic"


def test_the_exporter_shows_the_fit(tmp_path):
    torch.manual_seed(0)
    statistics = modelexport.HierarchyExporter(strategy="htp").export(
        Net().eval(), torch.randn(2, 5, 16), tmp_path / "a.onnx"
    )
    assert statistics["fit"]["score"] == 1.0
