"""A capture leaves the model and the process as they were, however it ends."""

import random

import modelexport
import numpy as np
import pytest
import python_models
import torch


class Snapshot:
    """Everything that could change, by value."""

    def __init__(self, model: torch.nn.Module):
        self.training = [module.training for module in model.modules()]
        self.tensors = {name: tensor.detach().clone() for name, tensor in model.state_dict(keep_vars=True).items()}
        self.objects = [*model.parameters(), *model.buffers()]
        self.requires_grad = [parameter.requires_grad for parameter in model.parameters()]
        self.placement = [(tensor.device, tensor.dtype) for tensor in self.objects]
        self.hooks = [
            {name: dict(table) for name, table in vars(module).items() if name.endswith("_hooks") and isinstance(table, dict)}
            for module in model.modules()
        ]
        self.attributes = [{name: id(value) for name, value in vars(module).items()} for module in model.modules()]
        self.grad_mode = torch.is_grad_enabled()
        self.generators = (torch.get_rng_state().tolist(), random.getstate(), str(np.random.get_state()))

    def assert_same(self, model: torch.nn.Module) -> None:
        now = Snapshot(model)
        for name, tensor in self.tensors.items():
            assert torch.equal(tensor, now.tensors[name]), name
        assert list(map(id, self.objects)) == list(map(id, now.objects))
        for what in ("training", "requires_grad", "placement", "hooks", "attributes", "grad_mode", "generators"):
            assert getattr(self, what) == getattr(now, what), what


@pytest.fixture(autouse=True)
def grad_mode():
    before = torch.is_grad_enabled()
    yield
    torch.set_grad_enabled(before)


@pytest.mark.parametrize("is_training", [False, True])
def test_modes_statistics_generators_and_flags_are_as_they_were(is_training, tmp_path):
    model = python_models.Normed().train(is_training)
    model.dropout.train(not is_training)
    model.conv.bias.requires_grad_(False)
    x = python_models.image()
    before = Snapshot(model)
    modelexport.export(model, x, tmp_path / "m.onnx")
    before.assert_same(model)


def test_grad_mode_is_as_it_was(tmp_path):
    model = python_models.Normed().eval()
    with torch.no_grad():
        modelexport.export(model, python_models.image(), tmp_path / "m.onnx")
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_all_is_as_it_was_when_forward_raises(tmp_path):
    model, x = python_models.Raises().eval(), torch.randn(2, 8)
    before = Snapshot(model)
    with pytest.raises(RuntimeError, match="forward does not like this"):
        modelexport.export(model, x, tmp_path / "m.onnx")
    before.assert_same(model)
    assert not hasattr(model, "seen")
    assert not list(tmp_path.iterdir())


def test_all_is_as_it_was_after_ctrl_c_in_forward(tmp_path):
    class Interrupted(python_models.Normed):
        def forward(self, x):
            super().forward(x)
            self.register_forward_hook(print)
            raise KeyboardInterrupt

    model, x = Interrupted().train(), python_models.image()
    before = Snapshot(model)
    with pytest.raises(KeyboardInterrupt):
        modelexport.export(model, x, tmp_path / "m.onnx")
    before.assert_same(model)
    assert not list(tmp_path.iterdir())


def test_hooks_of_the_user_run_and_stay(tmp_path):
    model = python_models.Stack().eval()
    calls = []
    model.first.register_forward_hook(lambda *_: calls.append("after"))
    model.second.register_forward_pre_hook(lambda *_: calls.append("before"))
    x = torch.randn(2, 8)
    before = Snapshot(model)
    result = modelexport.export(model, x, tmp_path / "m.onnx")
    before.assert_same(model)
    assert calls.count("after") >= 2 and "before" in calls
    assert result.coverage == 1.0


def test_forward_that_draws_random_numbers_of_python_and_numpy_leaves_the_generators(tmp_path):
    class Draws(python_models.Block):
        def forward(self, x):
            return super().forward(x) * random.random() * float(np.random.rand()) + torch.rand(8)

    model, x = Draws().eval(), torch.randn(2, 8)
    before = Snapshot(model)
    modelexport.export(model, x, tmp_path / "m.onnx")
    before.assert_same(model)
