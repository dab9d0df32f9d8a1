"""torch's own exporters through `export_to_onnx`: the same files, also for models that want keyword arguments."""

import _common
import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import modelexport
import traced_models


def run(path, feeds: dict[str, torch.Tensor]) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {name: tensor.numpy() for name, tensor in feeds.items()})


@pytest.mark.parametrize("name", ["bert_tiny", "llama_tiny"])
def test_torchscript_takes_keyword_arguments_without_a_prefix(name, tmp_path):
    case = _common.build(name)
    path = modelexport.export_to_onnx(case.model, case.kwargs, tmp_path / "m.onnx", exporter="torchscript")
    model = onnx.load(path)
    assert [value.name for value in model.graph.input] == list(case.kwargs)
    names = {*dict(case.model.named_parameters()), *dict(case.model.named_buffers())}
    # What torch transposes or folds gets a name such as `onnx::MatMul_12`.
    found = {tensor.name for tensor in model.graph.initializer if "::" not in tensor.name}
    assert found, "parameters keep their names"
    assert found <= names, "parameters keep their names"
    paths = {path.split(".")[0] for path, _ in case.model.named_modules() if path}
    scopes = {
        node.name.split("/")[1] for node in model.graph.node if node.name.startswith("/") and node.name.count("/") > 1
    }
    assert scopes <= paths, "scopes begin at the model's own children"
    assert "forward" not in vars(case.model)
    for got, want in zip(run(path, case.kwargs), _common.eager(case, (), case.kwargs), strict=True):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-3, atol=1e-4)


def test_outputs_with_keys_keep_them_in_torchscript(tmp_path):
    inputs = {"x": torch.randn(2, 4), "pair": (torch.randn(4), {"y": torch.randn(4)})}
    path = modelexport.export_to_onnx(traced_models.Structured(), inputs, tmp_path / "m.onnx", exporter="torchscript")
    graph = onnx.load(path).graph
    assert [value.name for value in graph.input] == ["x", "pair_0", "pair_1_y"]
    assert [value.name for value in graph.output] == ["hidden", "pairs_sum"]


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_files_are_those_of_torch(exporter, tmp_path):
    model, x = traced_models.Block().eval(), torch.randn(2, 4)
    options = {"input_names": ["x"], "output_names": ["y"], "opset_version": 18}
    mine = modelexport.export_to_onnx(model, x, tmp_path / "m.onnx", exporter=exporter, **options)
    torch.onnx.export(model, (x,), str(tmp_path / "torch.onnx"), dynamo=exporter == "dynamo", **options)

    def bare(path):
        # Stack traces name the lines of the caller.
        loaded = onnx.load(path)
        for node in loaded.graph.node:
            del node.metadata_props[:]
            node.ClearField("doc_string")
        return loaded.SerializeToString(deterministic=True)

    assert bare(mine) == bare(tmp_path / "torch.onnx")


def test_the_model_is_left_as_it_was(tmp_path):
    model, x = traced_models.Writing(), torch.randn(3, 4)
    before, given = {name: tensor.clone() for name, tensor in model.state_dict().items()}, x.clone()
    modelexport.export_to_onnx(model, x, tmp_path / "m.onnx", exporter="torchscript")
    assert model.training
    assert model.calls == 0
    assert torch.equal(x, given)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_an_unknown_exporter_is_refused(tmp_path):
    with pytest.raises(ValueError, match="expected 'dynamo' or 'torchscript', not 'fx'"):
        modelexport.export_to_onnx(traced_models.Block(), torch.randn(1, 4), tmp_path / "m.onnx", exporter="fx")
