"""The tools of the command line as functions."""

import inspect
import json
import re

import onnx
import pytest

import modelexport
import support
from modelexport import tools

SHARED = support.FIXTURES / "shared_module" / "model.pt2"
DYNAMIC = support.FIXTURES / "dynamic_batch_seq" / "model.pt2"
# About the printing and the exit status.
NOT_FOR_PROGRAMS = {"format", "help", "quiet", "verbose", "color", "fail-on"}
COMMANDS = {name: function for name, function in vars(tools).items() if inspect.isfunction(function) and name[0] != "_"}


@pytest.fixture
def tagged(tmp_path):
    return modelexport.export(SHARED, f=tmp_path / "m.onnx").path


def test_they_give_what_the_command_prints_as_json():
    printed = json.loads(
        support.modelexport("tree", SHARED, "--format", "json", "--depth", "1", "--modules", "all").stdout
    )
    assert modelexport.tree(SHARED, depth=1, modules="all") == printed
    assert {row["target"] for row in modelexport.operators("softmax")} >= {"aten.softmax.int", "aten._softmax.default"}


def test_lists_and_dictionaries_become_options(tagged, tmp_path):
    shown = modelexport.tree(SHARED, torch_nn_exceptions=["Linear", "Embedding"])
    assert any(module["tag"].endswith("Embedding") for module in shown["modules"])
    named = modelexport.export(DYNAMIC, f=tmp_path / "d.onnx", dynamic_shapes={"tokens": {0: "batch"}}).path
    assert modelexport.analyze(named, dim={"batch": 4}, top=3)["sizes"]["batch"] == 4


def test_a_file_without_tags_is_made_and_not_replaced(tagged, tmp_path):
    modelexport.strip(tagged, tmp_path / "plain.onnx")
    with pytest.raises(FileExistsError, match=r"plain.onnx"):
        modelexport.strip(tagged, tmp_path / "plain.onnx")
    modelexport.strip(tagged, tmp_path / "plain.onnx", overwrite=True)


def test_tags_are_given_back(tagged, tmp_path):
    plain, again = tmp_path / "plain.onnx", tmp_path / "again.onnx"
    modelexport.strip(tagged, plain)
    modelexport.tag(plain, again, from_=tagged)
    paths = [{module["path"] for module in modelexport.tree(file)["modules"]} for file in (tagged, again)]
    assert paths[0] == paths[1]


def test_commands_on_modules_give_structures(tagged, tmp_path):
    assert modelexport.validate(tagged)["findings"] == []
    part = modelexport.extract(tagged, "recurrent", tmp_path / "part.onnx", call=1, manifest=True)
    assert part["manifest"]["modules"][0]["call"] == 1
    assert json.loads((tmp_path / "part_manifest.json").read_text()) == part["manifest"]
    made = modelexport.functions(tagged, output=tmp_path / "made.onnx", all=True)
    assert made["functions"]
    assert made["nodes_after"] < made["nodes_before"]
    modelexport.functions(tmp_path / "made.onnx", output=tmp_path / "back.onnx", inline=True)
    assert modelexport.compare(tagged, tmp_path / "back.onnx")["equal"]
    assert not modelexport.compare(tagged, tmp_path / "made.onnx")["equal"]
    for call in (modelexport.extract, modelexport.functions):
        with pytest.raises(ValueError, match="near matches: recurrent"):
            call(tagged, "recurent", tmp_path / "none.onnx")


def test_sizes_outputs_and_sources_that_do_not_fit_are_refused(tagged, tmp_path):
    with pytest.raises(ValueError, match='no dimension "batch": all dimensions of the file have fixed sizes'):
        modelexport.analyze(tagged, dim={"batch": 4})
    before = tagged.read_bytes()
    for call in (modelexport.extract, modelexport.functions):
        with pytest.raises(ValueError, match="is the model that is read, which is never replaced"):
            call(tagged, "head", tagged, overwrite=True)
    assert tagged.read_bytes() == before
    with pytest.raises(ValueError, match=r"is already an ONNX file; `modelexport tag .* adds tags to it"):
        modelexport.export(tagged, f=tmp_path / "again.onnx")


def test_weights_in_another_layout_are_equal(tagged, tmp_path):
    model = onnx.load(tagged)
    name, turned = next(
        (tensor.name, onnx.numpy_helper.to_array(tensor).T.copy())
        for tensor in model.graph.initializer
        if len(tensor.dims) == 2 and tensor.dims[0] != tensor.dims[1] and tensor.data_type == onnx.TensorProto.FLOAT
    )
    tensor = next(tensor for tensor in model.graph.initializer if tensor.name == name)
    tensor.CopyFrom(onnx.numpy_helper.from_array(turned, name))
    onnx.save(model, tmp_path / "turned.onnx")
    found = modelexport.compare(tagged, tmp_path / "turned.onnx")
    assert found["summary"] == {"structure": 1, "tags": 0, "weights": 0}, found
    (difference,) = [one for module in found["modules"] for one in module["differences"]] + found["model"]
    assert difference["kind"] == "weight layout changed"
    assert difference["after"].endswith("the same numbers, transposed")


def test_errors_are_raised():
    with pytest.raises(FileNotFoundError, match=r"none.onnx"):
        modelexport.tree("none.onnx")
    with pytest.raises(ValueError, match="invalid value 'some' for '--modules"):
        modelexport.tree(SHARED, modules="some")
    assert modelexport.operators("no such operator") == []


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_of_a_command_is_one_of_its_function(name):
    assert getattr(modelexport, name) is COMMANDS[name]
    usage = support.modelexport(name, "--help").stdout
    flags = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", usage, re.MULTILINE)) - NOT_FOR_PROGRAMS
    parameters = {parameter.rstrip("_").replace("_", "-") for parameter in inspect.signature(COMMANDS[name]).parameters}
    assert flags <= parameters
