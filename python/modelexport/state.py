"""Leaves a model as it was."""

import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def preserved_state(model: torch.nn.Module) -> Iterator[None]:
    training = [(module, module.training) for module in model.modules()]
    buffers = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]
    with torch.random.fork_rng():
        try:
            yield
        finally:
            for module, was_training in training:
                module.training = was_training
            with torch.no_grad():
                for buffer, content in buffers:
                    if not torch.equal(buffer, content):
                        buffer.copy_(content)
