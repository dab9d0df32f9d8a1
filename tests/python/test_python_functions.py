"""`export_modules_as_functions`: modules as local functions, as older versions of `torch.onnx.export` had them."""

import _common
import onnx
import pytest
import torch

import modelexport
import python_models
import support
from exported import Exported


@pytest.fixture(scope="module")
def case():
    return _common.build("bert_tiny")


def layer_class(case) -> type:
    """The class of the modules in the model's list of layers."""
    return type(next(module for module in case.model.modules() if isinstance(module, torch.nn.ModuleList))[0])


def export(case, path, **options) -> modelexport.ExportResult:
    return modelexport.export(case.model, case.args, path, kwargs=case.kwargs, **options)


@pytest.mark.parametrize("chosen", ["class", "all"])
def test_functions_are_those_of_the_tool_and_compute_the_same(chosen, case, tmp_path):
    plain = export(case, tmp_path / "plain.onnx")
    modules = {layer_class(case)} if chosen == "class" else True
    result = export(case, tmp_path / "m.onnx", export_modules_as_functions=modules)
    selected = {"all": True} if chosen == "all" else {"selector": f"class:{layer_class(case).__name__}"}
    modelexport.functions(plain.path, output=tmp_path / "tool.onnx", **selected)
    assert result.path.read_bytes() == (tmp_path / "tool.onnx").read_bytes()

    names = [function.name for function in result.model_proto.functions]
    assert names
    assert chosen == "all" or names == [layer_class(case).__name__]
    onnx.checker.check_model(result.path)
    assert modelexport.validate(result.path)["valid"]
    inputs = [_common.to_numpy(tensor) for tensor in _common.tensors((case.args, case.kwargs))]
    wanted = [_common.to_numpy(tensor) for tensor in _common.eager(case, case.args, case.kwargs)]
    support.assert_all_close(Exported(result.path).run(inputs), wanted, ["float32"] * len(wanted))
    assert result.coverage == 1.0


def test_weights_may_be_external_and_modules_chosen_by_path(tmp_path):
    model, x = python_models.Stack().eval(), torch.randn(2, 8)
    chosen = ["second", torch.nn.LayerNorm]
    result = modelexport.export(model, x, tmp_path / "m.onnx", export_modules_as_functions=chosen, external_data=True)
    assert {function.name for function in result.model_proto.functions} == {"Block", "LayerNorm"}
    wanted = _common.eager(_common.Case(model, (x,)), (x,), {})
    support.assert_all_close(Exported(result.path).run([x.numpy()]), [wanted[0].numpy()], ["float32"])


def test_modules_that_are_not_there_are_told(tmp_path):
    model, x = python_models.Stack().eval(), torch.randn(2, 8)
    with pytest.raises(ValueError, match="Conv2d"):
        modelexport.export(model, x, tmp_path / "m.onnx", export_modules_as_functions={torch.nn.Conv2d})
    with pytest.raises(TypeError, match="3 is neither a class of modules nor a selector"):
        modelexport.export(model, x, tmp_path / "m.onnx", export_modules_as_functions={3})
    assert not list(tmp_path.iterdir())
