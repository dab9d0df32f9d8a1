"""Modules inside branches and loops: theirs are the nodes, whatever way the program came."""

import re
from collections import Counter

import onnx
import pytest
import torch

import branch_models
import modelexport
import support
from branch_models import MODELS, Truth, truth
from exported import Exported, all_nodes

models = pytest.mark.parametrize("build", MODELS, ids=lambda build: build.__name__)


def sample() -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(3, 4)


def build_model(build: type) -> torch.nn.Module:
    torch.manual_seed(0)
    return build().eval()


def operator(source: str) -> str:
    """`sum_1` was made for the second `sum`, or for one whose name Python knows already."""
    return re.sub(r"(_\d+)?_?$", "", source)


class Told:
    """What a sidecar says, with instances that have several names under the first of them."""

    def __init__(self, sidecar: dict, model: torch.nn.Module):
        first = {module: path for path, module in reversed(list(model.named_modules(remove_duplicate=False)))}
        self._name = {path: first[module] for path, module in model.named_modules(remove_duplicate=False)}
        self.nodes = sidecar["nodes"]
        self.work = {
            (self._name[node["module"]], operator(node["source"])) for node in self.nodes if node.get("source")
        }
        self.methods = Counter(node["method"] for node in self.nodes)
        self.calls = Counter()
        for module in sidecar["modules"]:
            assert module["executed"] == (module["order"] is not None) == (module["calls"] > 0), module
            if module["path"] and module["executed"]:
                self.calls[self._name[module["path"]]] += module["calls"]
        orders = sorted(module["order"] for module in sidecar["modules"] if module["executed"])
        assert orders == list(range(len(orders)))

    def assert_exact(self, wanted: Truth) -> None:
        operators = {name for _, name in wanted.work} & {name for _, name in self.work}
        assert len(operators) > 2
        assert self.of(operators, self.work) == self.of(operators, wanted.work)
        assert self.calls == wanted.calls

    @staticmethod
    def of(operators: set, work) -> list:
        return sorted(pair for pair in work if pair[1] in operators)


def assert_same_numbers(path, model: torch.nn.Module, args: tuple) -> None:
    for scale in (1, -1):
        wanted = model(*(arg * scale for arg in args)).detach().numpy()
        (got,) = Exported(path).run([(arg * scale).numpy() for arg in args])
        support.assert_close(got, wanted, "float32", f"inputs times {scale}")


# Strict captures are in archives below; one shows that they come alike from a live model.
@pytest.mark.parametrize("build, strict", [*((build, False) for build in MODELS), (branch_models.Nested, True)])
def test_a_live_model_tells_the_calls_inside_its_branches(build, strict, tmp_path):
    model, x = build_model(build), sample()
    result = modelexport.export(model, (x,), tmp_path / "m.onnx", strict=strict, modules="all")
    told = Told(result.hierarchy, model)
    assert set(told.methods) == {"direct"}
    told.assert_exact(truth(model, x))
    assert_same_numbers(result.path, model, (x,))


@models
def test_a_strict_archive_tells_the_calls_inside_its_branches(build, tmp_path):
    model, x = build_model(build), sample()
    torch.export.save(torch.export.export(model, (x,), strict=True), tmp_path / "m.pt2")
    exported = Exported.export(tmp_path / "m.pt2", tmp_path / "m.onnx", "--modules", "all")
    told = Told(exported.sidecar, model)
    assert set(told.methods) == {"direct"}
    told.assert_exact(truth(model, x))


def archived(model: torch.nn.Module, args: tuple, folder, **options) -> Exported:
    torch.export.save(torch.export.export(model, args, strict=False, **options), folder / "m.pt2")
    return Exported.export(folder / "m.pt2", folder / "m.onnx", "--modules", "all")


def is_above(path: str, module: str) -> bool:
    return path == "" or path == module or module.startswith(f"{path}.")


@models
def test_an_archive_without_stacks_tells_what_its_parameters_do(build, tmp_path):
    """The archive of a capture that follows Python has no stacks in branches. Nobody gets a node of a sibling."""
    model, x = build_model(build), sample()
    exact = Told(modelexport.export(model, (x,), tmp_path / "live.onnx", modules="all").hierarchy, model)
    exported = archived(model, (x,), tmp_path)
    found = Told(exported.sidecar, model)
    assert set(found.methods) <= {"direct", "parameter", "propagated"}
    assert [node["op_type"] for node in found.nodes] == [node["op_type"] for node in exact.nodes]
    inside = {
        node.name for top in exported.model.graph.node for node in all_nodes(as_graph(top)) if node.name != top.name
    }
    for node, wanted in zip(found.nodes, exact.nodes, strict=True):
        assert is_above(node["module"], wanted["module"]), (node, wanted)
        if node["name"] in inside:
            assert node["method"] != "direct", node
        elif node["method"] == "direct":
            assert node["module"] == wanted["module"], (node, wanted)
        if node["method"] == "parameter" and build is not branch_models.Tied and build is not branch_models.Shared:
            assert node["module"] == wanted["module"], (node, wanted)
    # A module with parameters ran if it ran; no other is said to.
    assert set(found.calls) <= set(exact.calls)
    owners = {name.rpartition(".")[0] for name, _ in model.named_parameters()} - {""}
    if build is not branch_models.Tied and build is not branch_models.Shared:
        assert owners & set(exact.calls) <= set(found.calls)
    assert_same_numbers(exported.path, model, (x,))


def as_graph(node: onnx.NodeProto) -> onnx.GraphProto:
    return onnx.GraphProto(node=[node])


def test_what_lies_between_the_parameters_of_a_module_is_in_it(tmp_path):
    exported = archived(build_model(branch_models.Experts), (sample(),), tmp_path)
    told = {(node["module"], operator(node["source"]), node["method"]) for node in exported.sidecar["nodes"]}
    assert told >= {
        ("experts.2", "sigmoid", "propagated"),
        ("experts.2", "mul", "propagated"),
        ("tower", "relu", "propagated"),
        ("", "mul", "parameter"),
        ("norm", "batch_norm", "parameter"),
    }
    executed = {module["path"] for module in exported.sidecar["modules"] if module["executed"]}
    assert "tower" in executed, "a sequence is called"
    assert not executed & {"experts", "experts.1", "tower.1"}, "a list is not, and nothing tells of a relu"


def test_branches_over_dynamic_sizes(tmp_path):
    model, x = build_model(branch_models.Nested), sample()
    shapes = ({0: torch.export.Dim.DYNAMIC},)
    result = modelexport.export(model, (x,), tmp_path / "live.onnx", dynamic_shapes=shapes, modules="all")
    told = Told(result.hierarchy, model)
    told.assert_exact(truth(model, x))
    assert_same_numbers(result.path, model, (torch.randn(5, 4),))
    exported = archived(model, (x,), tmp_path, dynamic_shapes=shapes)
    readers = {node["module"] for node in exported.sidecar["nodes"] if node["method"] == "parameter"}
    assert readers == {path for path in told.calls if path.endswith("proj")}


@pytest.mark.parametrize("build", [branch_models.Nested, branch_models.Loop, branch_models.Recurrence])
def test_the_tools_agree(build, tmp_path):
    model, x = build_model(build), sample()
    wanted = truth(model, x)
    result = modelexport.export(model, (x,), tmp_path / "m.onnx", modules="all")
    assert modelexport.validate(result.path)["findings"] == []
    shown = {module["path"]: module for module in modelexport.tree(result.path, modules="all")["modules"]}
    listed = {row["path"]: row for row in modelexport.analyze(result.path)["modules"]}
    for entry in result.hierarchy["modules"]:
        path = entry["path"]
        for told in (entry, shown[path], listed[path]):
            assert told["executed"] == (path == "" or path in wanted.calls), path
            assert told["calls"] == (wanted.calls[path] if path else 1), path
        assert shown[path]["nodes"] == entry["nodes"], path
        assert listed[path]["own"]["nodes"] == entry["nodes"]["own"], path


@pytest.mark.parametrize(
    "build, path",
    [(branch_models.Experts, "experts.2"), (branch_models.Recurrence, "cell"), (branch_models.Each, "block")],
)
def test_a_module_is_cut_out_of_its_branch(build, path, tmp_path):
    model = build_model(build)
    result = modelexport.export(model, (sample(),), tmp_path / "m.onnx", modules="all")
    modelexport.extract(result.path, path, tmp_path / "part.onnx")
    x = torch.randn(3, 4) if build is branch_models.Experts else torch.randn(4)
    (got,) = Exported(tmp_path / "part.onnx").run([x.numpy()])
    support.assert_close(got, model.get_submodule(path)(x).detach().numpy(), "float32", path)


def test_calls_in_branches_are_no_functions_and_said_to_be_none(tmp_path):
    model = build_model(branch_models.InsideAndOutside)
    result = modelexport.export(model, (sample(),), tmp_path / "m.onnx", modules="all")
    told = modelexport.functions(result.path, "block", tmp_path / "f.onnx")
    assert [(left["module"], left["call"]) for left in told["left"]] == [("block", call) for call in (1, 2, 3)]
    assert_same_numbers(tmp_path / "f.onnx", model, (sample(),))


def test_nothing_stays_switched_on(tmp_path):
    class Fails(branch_models.Choice):
        def forward(self, x):
            super().forward(x)
            raise KeyboardInterrupt

    for build in (branch_models.Choice, Fails):
        model = build_model(build)
        before = {path: dict(vars(module)) for path, module in model.named_modules()}
        try:
            modelexport.export(model, (sample(),), tmp_path / "m.onnx")
        except KeyboardInterrupt:
            assert build is Fails
        assert not torch.fx.traceback.has_preserved_node_meta()
        assert {path: dict(vars(module)) for path, module in model.named_modules()} == before
