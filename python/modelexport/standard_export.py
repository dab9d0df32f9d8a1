"""torch's standard exporters, with inputs as the rest of the package takes them."""

import contextlib
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import torch
from torch.utils import _pytree

from modelexport import inputs as model_inputs
from modelexport.capture import CAPTURE_LOCK
from modelexport.capture.results import plain_results
from modelexport.capture.state import untouched
from modelexport.kept_contents import kept_contents

Exporter = Literal["dynamo", "torchscript"]


def export_to_onnx(
    model: torch.nn.Module,
    inputs: Any,
    path: str | PathLike[str],
    exporter: Exporter = "dynamo",
    **kwargs: Any,
) -> Path:
    """Exports with `torch.onnx.export` and returns the path of the file.

    `inputs` is a tensor, a tuple of positional or a dict of keyword arguments. Other keyword arguments are passed to
    `torch.onnx.export`. The model is not changed.
    """
    if exporter not in ("dynamo", "torchscript"):
        raise ValueError(f"exporter: expected 'dynamo' or 'torchscript', not {exporter!r}")
    args, call_kwargs = model_inputs.as_call(inputs)
    call_kwargs |= kwargs.pop("kwargs", None) or {}
    with CAPTURE_LOCK, untouched(model), kept_contents(model, args, call_kwargs):
        if exporter == "dynamo":
            with plain_results(model):
                torch.onnx.export(model, args, str(path), kwargs=call_kwargs, dynamo=True, **kwargs)
        else:
            with called_with_tensors(model, args, call_kwargs) as call:
                kwargs.setdefault("input_names", call.input_names)
                kwargs.setdefault("output_names", call.output_names)
                torch.onnx.export(model, call.tensors, str(path), dynamo=False, **kwargs)
    return Path(path)


class TensorCall:
    """A call of a model as a tracer wants it: tensors in, tensors out, all positional."""

    def __init__(self, model: torch.nn.Module, args: tuple, kwargs: dict[str, Any]):
        names = {id(tensor): name for name, tensor in model_inputs.named_tensors(model, args, kwargs)}
        self._leaves, self._spec = _pytree.tree_flatten((args, kwargs))
        self._places = [i for i, leaf in enumerate(self._leaves) if isinstance(leaf, torch.Tensor)]
        self.tensors = tuple(self._leaves[place] for place in self._places)
        self.input_names = distinct(names[id(tensor)] for tensor in self.tensors)
        # Filled while the model is traced, which is before torch names the outputs.
        self.output_names: list[str] = []

    def through(self, forward: Callable[..., Any]) -> Callable[..., Any]:
        """`forward` with these arguments; all but the tensors are constants."""

        def call(*tensors: torch.Tensor) -> Any:
            leaves = list(self._leaves)
            for place, tensor in zip(self._places, tensors, strict=True):
                leaves[place] = tensor
            args, kwargs = _pytree.tree_unflatten(leaves, self._spec)
            result = forward(*args, **kwargs)
            named = list(model_inputs.leaves("", result))
            if model_inputs.has_keys(result):
                self.output_names[:] = distinct(name for name, _ in named)
            returned = tuple(tensor for _, tensor in named)
            return returned[0] if len(returned) == 1 else returned

        return call


@contextlib.contextmanager
def called_with_tensors(model: torch.nn.Module, args: tuple, kwargs: dict[str, Any]) -> Iterator[TensorCall]:
    """For the time of the context `model` itself takes and returns tensors by position.

    A wrapping module would put its name before those of parameters and scopes; the instance's own `forward` does not.
    """
    call = TensorCall(model, args, kwargs)
    before = vars(model).get("forward", ...)
    vars(model)["forward"] = call.through(model.forward)
    try:
        yield call
    finally:
        if before is ...:
            del vars(model)["forward"]
        else:
            vars(model)["forward"] = before


def distinct(names: Iterator[str]) -> list[str]:
    """The names, each with a number after it if it came before."""
    taken: set[str] = set()
    result = []
    for name in names:
        candidate, count = name, 0
        while candidate in taken:
            count += 1
            candidate = f"{name}_{count}"
        taken.add(candidate)
        result.append(candidate)
    return result
