"""Strategies on files that torch's exporters wrote: exactness, siblings, bytes, and tags that return after tools."""

import json

import onnx
import onnxruntime
import pytest
import torch

import foreign_graphs
import modelexport
import retag_tools
import support
import traced_models
import zoo_small

# One of each kind: a decoder, an encoder with a decoder, decomposed norms, convolutions with norms merged into them,
# windows.
NAMES = ["gpt2", "t5", "gemma2", "mobilenet_v3", "swin_transformer"]

# Which evidence each strategy is given.
EVIDENCE = {"fx_graph": "model.pt2", "htp": "trace.json", "usage_based": "trace.json"}


class Foreign:
    """A folder with what torch's exporter made of one small architecture, and with the evidence for it."""

    def __init__(self, name, folder):
        (architecture,) = [entry for entry in zoo_small.ARCHITECTURES if entry.name == name]
        torch.manual_seed(0)
        model, args, kwargs = architecture.build()
        model.eval()
        self.folder, self.dynamo = folder, folder / "dynamo.onnx"
        with torch.no_grad():
            modelexport.TracingHierarchyBuilder().trace_model_execution(model, kwargs or args).to_json(
                folder / "trace.json"
            )
            program = torch.export.export(model, args, kwargs, strict=False)
            torch.export.save(program, folder / "model.pt2")
            torch.onnx.export(
                program, args, self.dynamo, kwargs=kwargs, dynamo=True, external_data=False, verbose=False
            )
        exported = onnx.load(str(self.dynamo))
        self.truth = foreign_graphs.dynamo_truth(exported)
        self.blind = folder / "blind.onnx"
        foreign_graphs.write(foreign_graphs.blind(exported), self.blind)

    def score(self, source, strategy):
        evidence = self.folder / EVIDENCE.get(strategy, "trace.json")
        sidecar = foreign_graphs.tag(support.binary(), source, "--strategy", strategy, "--evidence", evidence)
        return foreign_graphs.score(sidecar, self.truth)


@pytest.fixture(scope="module", params=NAMES)
def foreign(request, tmp_path_factory):
    return Foreign(request.param, tmp_path_factory.mktemp(request.param))


def test_torch_metadata_gives_exact_tags(foreign):
    score = foreign.score(foreign.dynamo, "enhanced_semantic")
    assert (score.share("exact"), score.share("covered")) == (1.0, 1.0), score


# What a strategy must reach on every one of these models; over many it is measured by strategy_harness.py.
@pytest.mark.parametrize("strategy, exact", [("fx_graph", 0.99), ("htp", 0.97), ("usage_based", 0.8)])
def test_a_blind_graph_gets_its_tags(foreign, strategy, exact):
    score = foreign.score(foreign.blind, strategy)
    assert score.share("covered") == 1.0
    assert score.share("exact") >= exact, score
    assert score.share("in_chain") >= max(exact, 0.95), score
    assert score.strays == 0, score


@pytest.mark.parametrize("strategy", ["fx_graph", "htp"])
def test_without_its_tags_the_file_is_what_it_was(foreign, strategy, tmp_path):
    tagged, stripped = tmp_path / "tagged.onnx", tmp_path / "stripped.onnx"
    evidence = foreign.folder / EVIDENCE[strategy]
    support.modelexport("tag", foreign.blind, "-o", tagged, "--evidence", evidence, "--strategy", strategy)
    onnx.checker.check_model(str(tagged), full_check=True)
    onnxruntime.InferenceSession(str(tagged), providers=["CPUExecutionProvider"])
    for node in onnx.load(str(tagged)).graph.node:
        assert json.loads(node.doc_string)["hierarchy_path"].startswith("/")
    support.modelexport("strip", tagged, "-o", stripped)
    assert stripped.read_bytes() == foreign.blind.read_bytes()


def test_tags_return_after_the_optimiser_and_the_quantiser(foreign):
    tools = ("onnxruntime basic", "onnxruntime extended", "onnxruntime all", "quantize_dynamic")
    rows = dict(retag_tools.measure(support.binary(), foreign.dynamo, tools))
    for tool, score in rows.items():
        if isinstance(score, Exception):
            # The quantiser's own shape inference stumbles over some of torch's graphs.
            assert tool == "quantize_dynamic", (tool, score)
            continue
        assert score.share("covered") == 1.0, (tool, score)
        assert score.share("exact") >= 0.97, (tool, score)


def test_strategies_are_compared(foreign):
    ended = support.modelexport(
        "strategies", foreign.dynamo, "--evidence", foreign.folder / "model.pt2", "--format", "json"
    )
    report = json.loads(ended.stdout)
    assert report["has_truth"]
    by_name = {row["strategy"]: row for row in report["strategies"]}
    assert {"fx_graph", "htp", "enhanced_semantic", "usage_based"} <= set(by_name)
    for row in by_name.values():
        agreement = row["agreement"]
        assert row["coverage"] == 1.0
        assert 0 < agreement["exact"] <= agreement["in_chain"] <= agreement["known"]
    assert by_name["enhanced_semantic"]["agreement"]["exact"] == by_name["enhanced_semantic"]["agreement"]["known"]


def test_an_instance_is_known_by_each_of_its_names(tmp_path):
    """Torch writes the name of the call. A trace lists an instance once, with its other names, and what is tagged by
    it passes them on."""
    torch.manual_seed(0)
    model, x = traced_models.Repeated().eval(), torch.randn(2, 4)
    dynamo, torchscript = tmp_path / "dynamo.onnx", tmp_path / "torchscript.onnx"
    trace, program = tmp_path / "trace.json", tmp_path / "model.pt2"
    modelexport.TracingHierarchyBuilder().trace_model_execution(model, x).to_json(trace)
    torch.export.save(torch.export.export(model, (x,), strict=False), program)
    torch.onnx.export(model, (x,), dynamo, dynamo=True, external_data=False, verbose=False)
    torch.onnx.export(model, (x,), torchscript, dynamo=False, opset_version=17)
    truth = foreign_graphs.dynamo_truth(onnx.load(str(dynamo)))
    assert {"block", "again"} <= set(truth)
    names = {"block": ["again"], "block.linear": ["again.linear"]}

    def check(source, truth, evidence):
        sidecar = foreign_graphs.tag(
            support.binary(), source, "--strategy", "enhanced_semantic", "--evidence", evidence, "--modules", "all"
        )
        score = foreign_graphs.score(sidecar, truth, names)
        assert score.known, (evidence, score)
        assert score.share("exact") == 1.0, (evidence, score)

    check(dynamo, truth, trace)
    before = tmp_path / "before.onnx", tmp_path / "before_hierarchy.json"
    for made, kept in zip((tmp_path / "tagged.onnx", tmp_path / "tagged_hierarchy.json"), before, strict=True):
        made.rename(kept)
    for evidence in (program, *before):
        check(dynamo, truth, evidence)
    modules = [path for path, _ in model.named_modules(remove_duplicate=False)]
    check(torchscript, foreign_graphs.torchscript_truth(onnx.load(str(torchscript)), modules), trace)


@pytest.mark.parametrize("dynamo", [True, False], ids=["dynamo", "torchscript"])
def test_nodes_between_blocks_do_not_get_a_siblings_tag(dynamo, tmp_path):
    """Blocks that begin and end with operators that read no parameters, whose sizes TorchScript computes."""
    torch.manual_seed(0)
    model, x = torch.nn.Sequential(*(Shuffle(32) for _ in range(4))).eval(), torch.randn(1, 32, 6, 6)
    source, evidence = tmp_path / "model.onnx", tmp_path / "trace.json"
    modelexport.TracingHierarchyBuilder().trace_model_execution(model, x).to_json(evidence)
    if dynamo:
        torch.onnx.export(model, (x,), source, dynamo=True, external_data=False, verbose=False)
    else:
        torch.onnx.export(model, (x,), source, dynamo=False, opset_version=17)
    exported = onnx.load(str(source))
    modules = [path for path, _ in model.named_modules()]
    truth = foreign_graphs.dynamo_truth(exported) if dynamo else foreign_graphs.torchscript_truth(exported, modules)
    foreign_graphs.write(foreign_graphs.blind(exported), source)
    options = "--strategy", "usage_based", "--evidence", evidence
    score = foreign_graphs.score(foreign_graphs.tag(support.binary(), source, *options), truth)
    assert score.strays == 0, score
    assert score.share("covered") == 1.0, score
    assert score.share("exact") >= 0.8, score
    assert score.share("in_chain") >= 0.95, score


def test_a_torchscript_graph_gets_its_tags(tmp_path):
    """Sizes are computed in the graph and scopes are in names, which are taken away."""
    torch.manual_seed(0)
    block = torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    model = Stack(torch.nn.ModuleList([block, torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)])).eval()
    x = torch.randn(1, 5, 16)
    source, trace = tmp_path / "model.onnx", tmp_path / "trace.json"
    modelexport.TracingHierarchyBuilder().trace_model_execution(model, x).to_json(trace)
    torch.onnx.export(model, (x,), source, dynamo=False, opset_version=17, dynamic_axes={"input": {1: "n"}},
                      input_names=["input"])  # fmt: skip
    exported = onnx.load(str(source))
    truth = foreign_graphs.torchscript_truth(exported, [path for path, _ in model.named_modules()])
    foreign_graphs.write(foreign_graphs.blind(exported), source)
    sidecar = foreign_graphs.tag(support.binary(), source, "--strategy", "htp", "--evidence", trace, "--modules", "all")
    score = foreign_graphs.score(sidecar, truth)
    assert score.share("covered") == 1.0, score
    assert score.share("exact") >= 0.97, score
    assert score.strays == 0, score


class Stack(torch.nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Shuffle(torch.nn.Module):
    """Half of the channels goes through two branches, and all are mixed."""

    def __init__(self, channels):
        super().__init__()
        half = channels // 2
        self.branches = torch.nn.ModuleList(Branch(half // 2) for _ in range(2))

    def forward(self, x):
        kept, rest = x.chunk(2, dim=1)
        first, second = rest.chunk(2, dim=1)
        x = torch.cat((kept, self.branches[0](first), self.branches[1](second)), dim=1)
        batch, channels, height, width = x.size()
        return x.view(batch, 2, channels // 2, height, width).transpose(1, 2).reshape(batch, channels, height, width)


class Branch(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = torch.nn.GroupNorm(1, channels)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))
