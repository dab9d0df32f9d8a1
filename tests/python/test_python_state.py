"""A capture leaves the model and the process as they were, however it ends."""

import random

import numpy as np
import pytest
import torch

import modelexport
import python_models


class Snapshot:
    """Everything that could change, by value."""

    def __init__(self, model: torch.nn.Module):
        tensors = [*model.parameters(), *model.buffers()]
        hooks = [
            {
                name: dict(table)
                for name, table in vars(module).items()
                if name.endswith("_hooks") and isinstance(table, dict)
            }
            for module in model.modules()
        ]
        self.of = {
            "training mode": [module.training for module in model.modules()],
            "grad mode": torch.is_grad_enabled(),
            "parameters": [(name, bits(tensor)) for name, tensor in model.named_parameters()],
            "buffers": [(name, bits(tensor)) for name, tensor in model.named_buffers()],
            "requires_grad": [tensor.requires_grad for tensor in tensors],
            "devices": [tensor.device for tensor in tensors],
            "dtypes": [tensor.dtype for tensor in tensors],
            "the tensors themselves": [id(tensor) for tensor in tensors],
            "hooks": hooks,
            "attributes": [{name: id(value) for name, value in vars(module).items()} for module in model.modules()],
            "generator of torch": bits(torch.get_rng_state()),
            "generator of Python": random.getstate(),
            "generator of numpy": str(np.random.get_state()),
        }


def bits(tensor: torch.Tensor) -> bytes:
    return (
        tensor.detach().contiguous().view(torch.uint8).numpy().tobytes()
        if tensor.dim()
        else repr(tensor.item()).encode()
    )


ITEMS = list(Snapshot(torch.nn.Identity()).of)


class Interrupted(python_models.Normed):
    """Leaves a hook and an attribute behind when Ctrl-C comes."""

    def forward(self, x):
        super().forward(x)
        self.register_forward_hook(print)
        self.seen = True
        raise KeyboardInterrupt


class Draws(python_models.Block):
    """Draws from every generator."""

    def forward(self, x):
        return super().forward(x) * random.random() * float(np.random.rand()) + torch.rand(8)


def evaluated() -> tuple[torch.nn.Module, torch.Tensor]:
    return python_models.Normed().eval(), python_models.image()


def trained() -> tuple[torch.nn.Module, torch.Tensor]:
    model = python_models.Normed().train()
    model.dropout.eval()
    model.conv.bias.requires_grad_(False)
    return model, python_models.image()


def hooked() -> tuple[torch.nn.Module, torch.Tensor]:
    model = python_models.Stack().eval()
    model.first.register_forward_hook(lambda *_: None)
    model.second.register_forward_pre_hook(lambda *_: None)
    return model, torch.randn(2, 8)


# How a capture ends: the model with its input, and what it raises.
ENDS = {
    "evaluation": (evaluated, None),
    "training": (trained, None),
    "hooks of the user": (hooked, None),
    "random numbers": (lambda: (Draws().eval(), torch.randn(2, 8)), None),
    "forward raises": (lambda: (python_models.Raises().train(), torch.randn(2, 8)), RuntimeError),
    "Ctrl-C": (lambda: (Interrupted().train(), python_models.image()), KeyboardInterrupt),
}


@pytest.fixture(
    scope="module",
    params=[(end, grad) for end in ENDS for grad in (True, False)],
    ids=lambda param: f"{param[0]}, grad {param[1]}",
)
def snapshots(request, tmp_path_factory) -> tuple[Snapshot, Snapshot]:
    """Before and after a capture."""
    end, is_grad_enabled = request.param
    (build, raised), folder = ENDS[end], tmp_path_factory.mktemp("state")
    model, x = build()
    with torch.set_grad_enabled(is_grad_enabled):
        before = Snapshot(model)
        if raised is None:
            modelexport.export(model, x, folder / "m.onnx")
        else:
            with pytest.raises(raised):
                modelexport.export(model, x, folder / "m.onnx")
            assert not list(folder.iterdir())
        return before, Snapshot(model)


@pytest.mark.parametrize("item", ITEMS)
def test_is_bitwise_what_it_was(item, snapshots):
    before, after = snapshots
    assert before.of[item] == after.of[item]


def test_hooks_of_the_user_run(tmp_path):
    model = python_models.Stack().eval()
    calls = []
    model.first.register_forward_hook(lambda *_: calls.append("after"))
    model.second.register_forward_pre_hook(lambda *_: calls.append("before"))
    result = modelexport.export(model, torch.randn(2, 8), tmp_path / "m.onnx")
    assert calls.count("after") >= 2
    assert "before" in calls
    assert result.coverage == 1.0
