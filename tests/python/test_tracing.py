"""One forward pass becomes a trace: all modules, all operators as torch.export sees them, and nothing else changes."""

import json
import random

import _common
import _traces
import numpy as np
import pytest
import torch

import modelexport
import support
import traced_models

SKIPPED = ("aten._assert_tensor_metadata.default", "aten.sym_size.int")


def trace(model: torch.nn.Module, inputs) -> modelexport.HierarchyMetadata:
    return modelexport.TracingHierarchyBuilder().trace_model_execution(model.eval(), inputs)


def parameters(metadata) -> dict[str, dict]:
    return {entry["name"]: entry for module in metadata.modules for entry in module["parameters"]}


@pytest.mark.parametrize("name", [name for name in _common.names() if name not in ("cond", "dynamic_batch_seq")])
def test_operators_are_those_that_torch_export_captures(name):
    case = _common.build(name)
    metadata = trace(case.model, case.kwargs or case.args)
    program = torch.export.load(support.FIXTURES / name / "model.pt2")
    captured = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    captured = [target for target in captured if target.startswith("aten.") and target not in SKIPPED]
    traced = [op["target"] for op in metadata.ops if op["target"].startswith("aten.")]
    # An export copies what a plain run only marks as fresh.
    assert traced == [target.replace("lift_fresh_copy", "lift_fresh") for target in captured]
    assert [module["path"] for module in metadata.modules] == [path for path, _ in case.model.named_modules()]


def test_the_branch_that_ran_is_recorded_inside_control_flow():
    case = _common.build("cond")
    metadata = trace(case.model, case.args)
    targets = [op["target"] for op in metadata.ops]
    assert targets.count("higher_order.cond") == 2
    assert metadata.module_stack(metadata.ops[3]) == [("", 0), ("gate", 0), ("gate.positive", 0)]


@pytest.mark.parametrize("name", _traces.CASES)
def test_committed_traces_are_what_the_builder_gives(name):
    again = json.loads(_traces.trace(name))
    committed = json.loads((support.FIXTURES / name / "trace.json").read_text())
    for key in ("modules", "tensors", "calls", "ops", "inputs", "outputs"):
        assert again[key] == committed[key], key


def test_calls_of_one_instance_are_told_apart():
    metadata = trace(traced_models.Repeated(), torch.randn(2, 4))
    modules = {module["path"]: module for module in metadata.modules}
    assert modules["block"]["aliases"] == ["again"]
    assert modules["block"]["calls"] == 2
    assert modules["block.linear"]["aliases"] == ["again.linear"]
    assert modules["unused"] == {
        "path": "unused",
        "class": "traced_models.Block",
        "executed": False,
        "order": None,
        "calls": 0,
        "parameters": [],
    }
    linear = [metadata.module_stack(op) for op in metadata.ops if op["target"] == "aten.linear.default"]
    assert linear == [
        [("", 0), ("block", 0), ("block.linear", 0)],
        [("", 0), ("block", 1), ("block.linear", 1)],
    ]


def test_tied_and_plain_tensors_have_names():
    metadata = trace(traced_models.Tied(), torch.randint(0, 10, (2, 3)))
    assert parameters(metadata)["head.weight"]["tied_to"] == "embedding.weight"
    assert parameters(metadata)["scale"]["kind"] == "constant"
    origins = [metadata.tensors[each["tensor"]]["origin"] for op in metadata.ops for each in op["inputs"]]
    assert origins.count({"parameter": "embedding.weight"}) == 2
    assert {"parameter": "scale"} in origins


def test_names_of_inputs_and_outputs_follow_their_structure():
    x = torch.randn(2, 4)
    inputs = {"x": x, "pair": (torch.randn(4), {"y": torch.randn(4)}), "flag": True}
    metadata = trace(traced_models.Structured(), inputs)
    assert [each["name"] for each in metadata["inputs"]] == ["x", "pair_0", "pair_1_y"]
    assert [each["name"] for each in metadata["outputs"]] == ["hidden", "pairs_sum"]
    positional = trace(traced_models.Block(), (x,))
    assert [each["name"] for each in positional["inputs"]] == ["x"]
    assert [each["name"] for each in positional["outputs"]] == ["output"]


def mixed_sum(array: np.ndarray) -> str:
    """The fingerprint as docs/trace.md defines it, in numpy."""
    bits = array.ravel().view(f"u{min(array.itemsize, 8)}").astype(np.uint64)
    with np.errstate(over="ignore"):
        x = bits + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return f"{int((x ^ (x >> np.uint64(31))).sum(dtype=np.uint64)):016x}"


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int64", "uint8", "bool", "complex64", "complex128"]
)
def test_fingerprints_are_as_documented_and_survive_a_transposition(dtype):
    from modelexport.tracing.fingerprint import fingerprint

    array = np.random.default_rng(0).integers(0, 2, (5, 7, 3)).astype(dtype)
    tensor = torch.from_numpy(array)
    assert fingerprint(tensor) == mixed_sum(array)
    assert fingerprint(tensor.permute(2, 0, 1)) == mixed_sum(array)
    assert fingerprint(tensor[::2, 1:]) == mixed_sum(array[::2, 1:].copy())
    assert fingerprint(tensor[:0]) == "0" * 16
    assert fingerprint(tensor.to("meta")) is None


def test_json_returns_the_same_and_bad_json_is_located(tmp_path):
    metadata = trace(traced_models.Tied(), torch.randint(0, 10, (2, 3)))
    metadata.to_json(tmp_path / "trace.json")
    assert modelexport.HierarchyMetadata.from_json(tmp_path / "trace.json") == metadata
    assert modelexport.HierarchyMetadata.from_json(metadata.to_json()) == metadata
    wrong = metadata.to_json().replace('"call":1', '"call":99', 1)
    with pytest.raises(ValueError, match=r"trace: ops\[\d+\]: there is no call 99"):
        modelexport.HierarchyMetadata.from_json(wrong)
    with pytest.raises(FileNotFoundError):
        modelexport.HierarchyMetadata.from_json(tmp_path / "missing.json")
    with pytest.raises(TypeError, match="expected a tensor, a tuple"):
        trace(traced_models.Block(), 3)


def state(model: torch.nn.Module) -> list:
    """Everything that a pass could change."""
    return [
        [module.training for module in model.modules()],
        [(len(module._forward_hooks), len(module._forward_pre_hooks)) for module in model.modules()],
        [list(module._forward_hooks_always_called) for module in model.modules()],
        {name: tensor.tolist() for name, tensor in model.state_dict().items()},
        [sorted(vars(module)) for module in model.modules()],
        torch.is_grad_enabled(),
        torch.compiler.is_exporting(),
        torch.backends.mha.get_fastpath_enabled(),
        torch.get_rng_state().tolist(),
        random.getstate(),
    ]


def test_a_model_that_writes_is_left_as_it_was():
    model, x = traced_models.Writing(), torch.randn(3, 4)
    model.register_forward_hook(lambda module, args, result: result + 1)
    before, given = state(model), x.clone()
    metadata = modelexport.TracingHierarchyBuilder().trace_model_execution(model, x)
    assert state(model) == before
    assert model.calls == 0
    assert torch.equal(x, given)
    mul = next(op for op in metadata.ops if op["target"] == "aten.mul_.Tensor")
    storages = [metadata.tensors[number]["storage"] for number in [*mul["mutates"], *mul["outputs"]]]
    assert storages[0] == storages[1]
    assert mul["mutates"] != mul["outputs"]


@pytest.mark.parametrize("error", [RuntimeError("forward fails"), KeyboardInterrupt()])
def test_a_pass_that_fails_leaves_no_hook(error):
    model, x = traced_models.Failing(error).train(), torch.randn(2)
    before = state(model)
    with pytest.raises(type(error)):
        modelexport.TracingHierarchyBuilder().trace_model_execution(model, x)
    assert state(model) == before
    # The next trace starts from nothing.
    assert trace(traced_models.Block(), torch.randn(2, 4))["calls"][0]["parent"] is None
