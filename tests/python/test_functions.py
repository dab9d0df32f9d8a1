"""Modules as local functions: checkers and runtimes accept them and compute the same, and inlining gives the model back."""

import onnx
import pytest

import support
from exported import Exported

CASES = ["bert_tiny", "llama_tiny", "resnet_tiny", "shared_module", "cond"]


@pytest.mark.parametrize("opset", [14, 18, 20, 23])
@pytest.mark.parametrize("name", CASES)
def test_functions_run_with_equal_results(name, opset, tmp_path):
    fixture = next(fixture for fixture in support.all_fixtures() if fixture.name == name)
    whole = Exported.export(fixture.program, tmp_path / "whole.onnx", "--opset", str(opset))
    target = tmp_path / "functions.onnx"
    support.modelexport("functions", whole.path, "--all", "-o", target)

    made = Exported(target)
    assert made.model.functions
    onnx.checker.check_model(target)
    inputs = fixture.calls["captured"].inputs
    wanted = whole.run(inputs)
    got = made.run(inputs)
    assert len(got) == len(wanted)
    for mine, theirs in zip(got, wanted, strict=True):
        support.assert_close(mine, theirs, str(theirs.dtype), name)

    support.modelexport("functions", target, "--inline", "-o", tmp_path / "inlined.onnx")
    assert (tmp_path / "inlined.onnx").read_bytes() == whole.path.read_bytes()
