"""Small public architectures of every family: captured, exported, checked, run, and traced back to their modules."""

import _common
import pytest
import torch

import modelexport
import support
import zoo_small
from exported import Exported, readers


@pytest.mark.parametrize(
    "architecture",
    [pytest.param(entry, id=f"{entry.family}-{entry.name}") for entry in zoo_small.ARCHITECTURES],
)
def test_must_003_every_family_exports(architecture, tmp_path):
    torch.manual_seed(_common.SEED)
    model, args, kwargs = architecture.build()
    case = _common.Case(model.eval(), args, kwargs)
    wanted = _common.eager(case, args, kwargs)
    program = _common.capture(case)
    torch.export.save(program, tmp_path / "model.pt2")

    exported = Exported.export(tmp_path / "model.pt2", tmp_path / "model.onnx")

    exported.assert_accepted()
    got = exported.run([_common.to_numpy(tensor) for tensor in _common.tensors((args, kwargs))])
    dtypes = [str(tensor.dtype).removeprefix("torch.") for tensor in wanted]
    support.assert_all_close(got, [_common.to_numpy(tensor) for tensor in wanted], dtypes)
    exported.assert_tagged()
    exported.assert_readers(readers(program))
    modelexport.export(program, f=tmp_path / "live.onnx")
    assert (tmp_path / "live.onnx").read_bytes() == exported.path.read_bytes(), "from memory it is another model"
