"""The package and the archive are two ways to the same file; and the file computes what PyTorch does."""

import _common
import onnx
import pytest
import torch

import modelexport
import python_models
import support
from exported import Exported


def both_ways(model, args, kwargs, folder, dynamic_shapes=None) -> tuple[bytes, bytes]:
    """The ONNX bytes from the live model, and from the archive that torch writes of it."""
    program = torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False)
    torch.export.save(program, folder / "model.pt2")
    # The names of dynamic dimensions are not in an archive, and module calls inside branches neither.
    has_branches = any(isinstance(child, torch.fx.GraphModule) for child in program.graph_module.children())
    live = (program, (), {}) if dynamic_shapes is not None or has_branches else (model, args, kwargs)
    result = modelexport.export(live[0], live[1], folder / "live.onnx", kwargs=live[2])
    archived = modelexport.export(folder / "model.pt2", f=folder / "archived.onnx")
    for told in (result.hierarchy, archived.hierarchy):
        del told["source"]
    assert result.hierarchy == archived.hierarchy
    return result.path.read_bytes(), archived.path.read_bytes()


def run(path, args, kwargs) -> list:
    return Exported(path).run([_common.to_numpy(tensor) for tensor in _common.tensors((args, kwargs))])


def assert_parity(path, model, args, kwargs) -> None:
    wanted = _common.eager(_common.Case(model, args, kwargs), args, kwargs)
    dtypes = [str(tensor.dtype).removeprefix("torch.") for tensor in wanted]
    support.assert_all_close(run(path, args, kwargs), [_common.to_numpy(tensor) for tensor in wanted], dtypes)


def test_fixtures_give_the_same_bytes_live_and_from_an_archive(fixture, tmp_path):
    case = _common.build(fixture.name)
    live, archived = both_ways(case.model, case.args, case.kwargs, tmp_path, case.dynamic_shapes)
    assert live == archived


@pytest.mark.parametrize("name, build, args, kwargs", [pytest.param(*case, id=case[0]) for case in python_models.CASES])
def test_models_of_every_shape_export_live(name, build, args, kwargs, tmp_path):
    torch.manual_seed(0)
    model = build().eval()
    live, archived = both_ways(model, args, kwargs, tmp_path)
    assert live == archived
    exported = Exported(tmp_path / "live.onnx")
    exported.assert_accepted()
    exported.assert_tagged()
    assert_parity(exported.path, model, args, kwargs)


def test_large_tied_weights_are_written_once(tmp_path):
    model = python_models.Tied().eval()
    tokens = torch.randint(0, 600, (2, 5))
    result = modelexport.export(model, tokens, tmp_path / "m.onnx", external_data=True)
    assert (tmp_path / "m.onnx.data").stat().st_size == model.embed.weight.nbytes
    assert result.files == [tmp_path / "m.onnx", tmp_path / "m.onnx.data", tmp_path / "m_hierarchy.json"]
    assert_parity(result.path, model, (tokens,), {})


def test_weights_are_not_copied(tmp_path):
    from modelexport.capture import capture_module

    model = python_models.NonContiguous().eval()
    live = capture_module(model, (torch.randn(2, 16),), {}, missing=lambda targets: []).program
    addresses = {address for _, address, _, _ in live.storages}
    tensors = [model.turned, model.part]
    assert {tensor.untyped_storage().data_ptr() for tensor in tensors} <= addresses


def test_a_model_on_the_meta_device_exports_without_weights(tmp_path):
    with torch.device("meta"):
        model = python_models.Stack().eval()
        x = torch.randn(2, 8)
    with pytest.raises(ValueError, match="weights have no data"):
        modelexport.export(model, x, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())
    result = modelexport.export(model, x, tmp_path / "m.onnx", weights="none")
    Exported(result.path).assert_accepted()
    inputs = {value.name for value in result.model_proto.graph.input}
    assert {name for name, _ in model.named_parameters()} <= inputs


def test_names_of_dimensions_inputs_and_outputs_are_the_users(tmp_path):
    model, args = python_models.Sum(), (torch.randn(2, 3), torch.randn(2, 5))
    batch = torch.export.Dim("batch")
    shapes = {"x": {0: batch, 1: "width"}, "y": {0: batch}}
    result = modelexport.export(
        model,
        args,
        tmp_path / "m.onnx",
        dynamic_shapes=shapes,
        input_names=["left", "right"],
        output_names=["joined"],
    )
    graph = result.model_proto.graph
    named = {
        value.name: [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in [*graph.input, *graph.output]
    }
    assert named == {
        "left": ["batch", "width"],
        "right": ["batch", 5],
        "joined": ["batch", "width + 5"],
        "sum_1": ["batch"],
    }
    other = (torch.randn(4, 7), torch.randn(4, 5))
    assert_parity(result.path, model, other, {})


def test_the_older_dynamic_axes_and_the_shapes_of_a_program_name_dimensions(tmp_path):
    model, args = python_models.Sum(), (torch.randn(2, 3), torch.randn(2, 5))
    axes = {"left": {0: "batch"}, "y": {0: "batch"}, "joined": {0: "batch"}}
    modelexport.export(
        model, args, tmp_path / "a.onnx", dynamic_axes=axes, input_names=["left"], output_names=["joined"]
    )
    program = torch.export.export(
        model, args, dynamic_shapes={"x": {0: torch.export.Dim("b")}, "y": {0: torch.export.Dim("b")}}
    )
    modelexport.export(program, f=tmp_path / "b.onnx", dynamic_shapes={"x": {0: "batch"}})
    torch.export.save(program, tmp_path / "m.pt2")
    modelexport.export(tmp_path / "m.pt2", f=tmp_path / "c.onnx", dynamic_shapes={"x": {0: "batch"}})
    for name in "abc":
        for value in onnx.load(tmp_path / f"{name}.onnx").graph.input:
            assert value.type.tensor_type.shape.dim[0].dim_param == "batch", name


def test_the_walk_leaves_a_node_that_it_does_not_know_to_torch(tmp_path, monkeypatch):
    """Knowing fewer kinds of arguments it still gives the same file, node by node."""
    from modelexport.capture import graph_json

    model, x = python_models.Stack().eval(), torch.randn(2, 8)
    whole = modelexport.export(model, x, tmp_path / "whole.onnx").path.read_bytes()
    whole_lists = graph_json.GraphWriter._list

    def no_numbers(self, items, formal):
        if type(items[0]) is int:
            raise graph_json.NotExpressible("a list of numbers")
        return whole_lists(self, items, formal)

    monkeypatch.setattr(graph_json.GraphWriter, "_list", no_numbers)
    asked = []
    by_torch = graph_json.GraphWriter._by_torch
    monkeypatch.setattr(
        graph_json.GraphWriter, "_by_torch", lambda self, node: asked.append(node) or by_torch(self, node)
    )
    assert modelexport.export(model, x, tmp_path / "pieces.onnx").path.read_bytes() == whole
    assert {node.target for node in asked} == {torch.ops.aten.layer_norm.default}
