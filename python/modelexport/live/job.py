"""One live export from what the command line asked for to the summary that it shows."""

from collections.abc import Callable, Iterable
from typing import Any

import torch

from modelexport import inputs as model_inputs
from modelexport.hierarchy_exporter import HierarchyExporter
from modelexport.live import given_inputs, made_inputs, sources
from modelexport.live.given_inputs import Spec
from modelexport.live.sources import LiveModel
from modelexport.tag_choices import NATIVE


def run(request: dict[str, Any], step: Callable[[str], None]) -> dict[str, Any]:
    """Exports as `request` says. `step` is told the name of each step when it begins."""
    # Before anything is loaded, which may take minutes.
    specs = [given_inputs.spec_of(text) for text in request["inputs"]]
    shapes = [given_inputs.sizes(text, "--input-shape") for text in request["input_shape"]]
    axes = axes_by_number(request["dynamic_axes"] or {})
    exporter = HierarchyExporter(
        strategy=request["strategy"],
        embed=request["embed"],
        exporter=request["exporter"],
        **request["policy"],
    )
    step("load")
    # Weights that stay in their files are not loaded to begin with.
    on_meta = request["weights_from"] is not None
    live = sources.load(request["kind"], request["source"], request["trust_remote_code"], on_meta)
    inputs = inputs_of(request, live, specs, shapes)
    options: dict[str, Any] = {"opset_version": request["opset"]} if request["opset"] is not None else {}
    if axes:
        inputs = with_room(live.model, inputs, axes)
        options["dynamic_axes"] = axes
    if request["strategy"] == NATIVE:
        names = ("weights", "weights_from", "source_info", "keep_batch_norm", "fuse")
        options |= {name: request[name] for name in names}
    return exporter.summary(
        live.model, inputs, request["output"], overwrite=request["overwrite"], progress=step, **options
    )


def inputs_of(request: dict[str, Any], live: LiveModel, specs: list[Spec], shapes: list[tuple[int, ...]]) -> Any:
    """The inputs that the user described, those that came with the model, or made ones."""
    if specs:
        return given_inputs.from_specs(specs, live.model)
    if request["inputs_from"]:
        return given_inputs.from_file(request["inputs_from"], live.model)
    if request["input_text"]:
        return given_inputs.from_text(request["input_text"], live, request["trust_remote_code"])
    if shapes:
        return made_inputs.made_inputs(live.model, batch=1, shapes=shapes)
    if live.inputs is not None:
        return live.inputs
    return made_inputs.made_inputs(live.model, batch=2 if request["dynamic_axes"] else 1)


def with_room(model: torch.nn.Module, inputs: Any, axes: dict[str, Any]) -> Any:
    """The inputs with at least two elements along axes that may have any size: torch takes 1 for a broadcast."""
    args, kwargs = model_inputs.as_call(inputs)
    names = dict(enumerate(model_inputs.bound_arguments(model, args, kwargs)))
    if kwargs:
        return {name: grown(value, axes.get(name, ())) for name, value in kwargs.items()}
    return tuple(grown(value, axes.get(names.get(i, ""), ())) for i, value in enumerate(args))


def grown(value: Any, axes: Iterable[int]) -> Any:
    for axis in axes if isinstance(value, torch.Tensor) else ():
        if -value.dim() <= axis < value.dim() and value.shape[axis] == 1:
            value = torch.cat([value, value], axis)
    return value


def axes_by_number(axes: Any) -> dict[str, Any]:
    """`{"input_ids": {"0": "batch"}}`: JSON has no keys that are numbers."""
    wrong = '--dynamic-axes: expected names by input and axis, such as {"input_ids": {"0": "batch"}}'
    if not isinstance(axes, dict):
        raise ValueError(wrong)
    result: dict[str, Any] = {}
    for name, by_axis in axes.items():
        if isinstance(by_axis, list) and all(isinstance(axis, int) for axis in by_axis):
            result[name] = by_axis
            continue
        if not isinstance(by_axis, dict) or not all(axis.lstrip("-").isdecimal() for axis in by_axis):
            raise ValueError(wrong)
        result[name] = {int(axis): size for axis, size in by_axis.items()}
    return result
