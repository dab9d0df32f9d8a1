"""The fixtures are what they say: small, portable, and PyTorch agrees with their numbers."""

import zipfile

import _common
import pytest
import torch
from torch.utils import _pytree

import support

SIZE_LIMIT = 3_000_000


def run(program: torch.export.ExportedProgram, call: support.Call) -> list[torch.Tensor]:
    """The program's outputs for one call; inputs are a flat list in the order of its user inputs."""
    flat = [torch.from_numpy(array) for array in call.inputs]
    args, kwargs = _pytree.tree_unflatten(flat, program.call_spec.in_spec)
    with torch.no_grad():
        return _common.tensors(program.module()(*args, **kwargs))


def test_fixtures_stay_small():
    assert sum(path.stat().st_size for path in support.FIXTURES.rglob("*") if path.is_file()) < SIZE_LIMIT


def test_archive_does_not_tell_where_it_was_made(fixture):
    with zipfile.ZipFile(fixture.program) as archive:
        assert b'File \\"/' not in archive.read("model/models/model.json")


def test_description_lists_every_input_and_output(fixture):
    call = fixture.calls["captured"]
    assert len(fixture.description["inputs"]) == len(call.inputs)
    assert len(fixture.description["outputs"]) == len(call.outputs)


def test_saved_program_gives_the_numbers_of_the_live_model(fixture):
    # The generator imports whatever registers the custom operators of its model.
    _common.load(fixture.name)
    dtypes = [output["dtype"] for output in fixture.description["outputs"]]
    for call in fixture.calls.values():
        # Loaded anew for each call: a model may change its buffers.
        outputs = run(torch.export.load(fixture.program), call)
        assert [str(output.dtype).removeprefix("torch.") for output in outputs] == dtypes
        support.assert_all_close([_common.to_numpy(output) for output in outputs], call.outputs, dtypes)


@pytest.mark.regenerate
def test_generator_reproduces_program_and_numbers(fixture, tmp_path):
    _common.write(fixture.name, tmp_path)
    again = support.Fixture(tmp_path)
    assert again.description == fixture.description
    assert graph(again) == graph(fixture)
    dtypes = [output["dtype"] for output in fixture.description["outputs"]]
    for name, call in fixture.calls.items():
        support.assert_all_close(again.calls[name].inputs, call.inputs, ["float32"] * len(call.inputs))
        support.assert_all_close(again.calls[name].outputs, call.outputs, dtypes)


def graph(fixture: support.Fixture) -> list[tuple[str, str, list[str]]]:
    """Name, target and inputs of every node, those of subgraphs too."""
    program = torch.export.load(fixture.program)
    return [
        (node.name, str(node.target), [used.name for used in node.all_input_nodes])
        for module in program.graph_module.modules()
        if isinstance(module, torch.fx.GraphModule)
        for node in module.graph.nodes
    ]
