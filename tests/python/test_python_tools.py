"""The tools of the command line as functions."""

import inspect
import json
import re

import modelexport
import pytest
import support
from modelexport import tools

SHARED = support.FIXTURES / "shared_module" / "model.pt2"
# About the printing and the exit status.
NOT_FOR_PROGRAMS = {"format", "help", "quiet", "verbose", "color", "fail-on"}
COMMANDS = {name: function for name, function in vars(tools).items() if inspect.isfunction(function) and name[0] != "_"}


@pytest.fixture
def tagged(tmp_path):
    return modelexport.export(SHARED, f=tmp_path / "m.onnx").path


def test_they_give_what_the_command_prints_as_json():
    printed = json.loads(support.modelexport("tree", SHARED, "--format", "json", "--depth", "1", "--modules", "all").stdout)
    assert modelexport.tree(SHARED, depth=1, modules="all") == printed
    assert {row["target"] for row in modelexport.operators("softmax")} >= {"aten.softmax.int", "aten._softmax.default"}


def test_lists_and_dictionaries_become_options(tagged, tmp_path):
    shown = modelexport.tree(SHARED, torch_nn_exceptions=["Linear", "Embedding"])
    assert any(module["tag"].endswith("Embedding") for module in shown["modules"])
    assert modelexport.analyze(tagged, dim={"batch": 4}, top=3)


def test_a_file_without_tags_is_made_and_not_replaced(tagged, tmp_path):
    modelexport.strip(tagged, tmp_path / "plain.onnx")
    with pytest.raises(FileExistsError, match="plain.onnx"):
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
    assert made["functions"] and made["nodes_after"] < made["nodes_before"]
    modelexport.functions(tmp_path / "made.onnx", output=tmp_path / "back.onnx", inline=True)
    assert modelexport.compare(tagged, tmp_path / "back.onnx")["equal"]
    assert not modelexport.compare(tagged, tmp_path / "made.onnx")["equal"]
    for call in (modelexport.extract, modelexport.functions):
        with pytest.raises(ValueError, match="near matches: recurrent"):
            call(tagged, "recurent", tmp_path / "none.onnx")


def test_errors_are_raised():
    with pytest.raises(FileNotFoundError, match="none.onnx"):
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
