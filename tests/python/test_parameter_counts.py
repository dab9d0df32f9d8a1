"""`tree`, `analyze` and the sidecar count the parameters that PyTorch counts, whatever tools made of the file."""

import json

import _common
import pytest

import support
from retag_tools import TOOLS


def torch_count(fixture) -> int:
    """What PyTorch counts: a parameter that several modules share once."""
    return sum(parameter.numel() for parameter in _common.build(fixture.name).model.parameters())


def counts(file) -> dict[str, int]:
    """By who counts."""
    tree, analysis = (
        json.loads(support.modelexport(command, file, "--format", "json").stdout)["totals"]
        for command in ("tree", "analyze")
    )
    sidecar = json.loads(file.with_name(f"{file.stem}_hierarchy.json").read_text())
    return {
        "tree": tree["parameters"],
        "analyze": analysis["parameters"]["elements"],
        "sidecar": sidecar["statistics"]["parameters"],
    }


def alike(number: int) -> dict[str, int]:
    return dict.fromkeys(("tree", "analyze", "sidecar"), number)


def test_an_export_has_the_parameters_of_the_model(fixture, tmp_path):
    file = tmp_path / "m.onnx"
    support.modelexport("export", fixture.program, "-o", file)
    assert counts(file) == alike(torch_count(fixture))


def quantise_by_channel(source, target):
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(str(source), str(target), per_channel=True)


TOOLS_HERE = {name: TOOLS[name] for name in ("onnxruntime basic", "onnxruntime extended", "quantize_dynamic")} | {
    "quantize_dynamic by channel": quantise_by_channel
}


@pytest.mark.parametrize("tool", TOOLS_HERE)
@pytest.mark.parametrize("name", ["bert_tiny", "resnet_tiny", "lstm_tiny", "shared_module", "llama_tiny"])
def test_other_tools_change_no_count(name, tool, tmp_path):
    fixture = support.Fixture(support.FIXTURES / name)
    original, made, tagged = (tmp_path / f"{stem}.onnx" for stem in ("original", "made", "tagged"))
    support.modelexport("export", fixture.program, "-o", original)
    TOOLS_HERE[tool](original, made)
    support.modelexport("tag", made, "--from", original, "-o", tagged)
    assert counts(tagged) == alike(torch_count(fixture))


@pytest.mark.parametrize("per_channel", [False, True])
def test_scales_are_no_parameters_where_only_the_file_tells(per_channel, tmp_path):
    from onnxruntime.quantization import quantize_dynamic

    fixture = support.Fixture(support.FIXTURES / "plain_linear_relu")
    original, made, tagged = (tmp_path / f"{stem}.onnx" for stem in ("original", "made", "tagged"))
    support.modelexport("export", fixture.program, "-o", original)
    quantize_dynamic(str(original), str(made), per_channel=per_channel)
    support.modelexport("tag", made, "--from", original, "-o", tagged)
    (tmp_path / "tagged_hierarchy.json").unlink()
    for command, path in (("tree", ("parameters",)), ("analyze", ("parameters", "elements"))):
        told = json.loads(support.modelexport(command, tagged, "--format", "json").stdout)["totals"]
        for part in path:
            told = told[part]
        assert told == torch_count(fixture), command
