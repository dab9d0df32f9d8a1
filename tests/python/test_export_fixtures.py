"""Every fixture, exported: accepted by the checker, PyTorch's numbers, a tag on every node, the same bytes twice."""

import _common
import pytest
import torch

import support
from exported import Exported, readers

OPSETS = (14, 17, 18, 20, 23, 24)


@pytest.mark.parametrize("opset", OPSETS)
def test_exported_fixture_gives_the_numbers_of_pytorch(fixture, opset, tmp_path):
    exported = Exported.export(fixture.program, tmp_path / "model.onnx", "--opset", str(opset))
    assert exported.opset == opset
    exported.assert_accepted()
    exported.assert_tagged()
    dtypes = [output["dtype"] for output in fixture.description["outputs"]]
    for call in fixture.calls.values():
        support.assert_all_close(exported.run(call.inputs), call.outputs, dtypes)


def test_exporting_twice_gives_the_same_bytes(fixture, tmp_path):
    files = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        Exported.export(fixture.program, folder / "model.onnx")
        files.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    assert files[0].keys() == files[1].keys() >= {"model.onnx", "model_hierarchy.json"}
    for name, first in files[0].items():
        assert first == files[1][name], f"{name} differs"


def test_inputs_keep_their_names_and_types(fixture, tmp_path):
    exported = Exported.export(fixture.program, tmp_path / "model.onnx")
    inputs = [value.name for value in exported.model.graph.input]
    assert inputs == [value["name"] for value in fixture.description["inputs"]]


def test_nodes_that_read_a_parameter_belong_to_the_module_that_reads_it(fixture, tmp_path):
    _common.load(fixture.name)
    exported = Exported.export(fixture.program, tmp_path / "model.onnx")
    exported.assert_readers(readers(torch.export.load(fixture.program)))


def test_dynamic_dimensions_get_the_names_of_the_user(tmp_path):
    fixture = support.Fixture(support.FIXTURES / "dynamic_batch_seq")
    wanted = fixture.description["dimensions"]
    given = [f"--dim-name=tokens:{axis}={name}" for axis, name in wanted["tokens"].items()]
    exported = Exported.export(fixture.program, tmp_path / "model.onnx", *given)
    found = {
        value.name: {
            str(axis): dim.dim_param for axis, dim in enumerate(value.type.tensor_type.shape.dim) if dim.dim_param
        }
        for value in exported.model.graph.input
    }
    assert found == wanted
