"""One live export from what the command line asked for to the summary that it shows."""

from collections.abc import Callable
from typing import Any

from modelexport.hierarchy_exporter import HierarchyExporter
from modelexport.live import given_inputs, made_inputs, sources
from modelexport.live.sources import LiveModel
from modelexport.tag_choices import NATIVE


def run(request: dict[str, Any], step: Callable[[str], None]) -> dict[str, Any]:
    """Exports as `request` says. `step` is told the name of each step when it begins."""
    step("load")
    # Weights that stay in their files are not loaded to begin with.
    on_meta = request["weights_from"] is not None
    live = sources.load(request["kind"], request["source"], request["trust_remote_code"], on_meta)
    inputs = inputs_of(request, live)
    exporter = HierarchyExporter(
        strategy=request["strategy"],
        embed=request["embed"],
        exporter=request["exporter"],
        **request["policy"],
    )
    options = {"opset_version": request["opset"]} if request["opset"] is not None else {}
    if request["dynamic_axes"]:
        options["dynamic_axes"] = axes_by_number(request["dynamic_axes"])
    if request["strategy"] == NATIVE:
        options |= {"weights": request["weights"], "source_info": request["source_info"]}
        options |= {"weights_from": request["weights_from"]}
    return exporter.summary(
        live.model, inputs, request["output"], overwrite=request["overwrite"], progress=step, **options
    )


def inputs_of(request: dict[str, Any], live: LiveModel) -> Any:
    """The inputs that the user described, those that came with the model, or made ones."""
    if request["inputs"]:
        return given_inputs.from_specs(request["inputs"], live.model)
    if request["inputs_from"]:
        return given_inputs.from_file(request["inputs_from"], live.model)
    if request["input_text"]:
        return given_inputs.from_text(request["input_text"], live, request["trust_remote_code"])
    if request["input_shape"]:
        shapes = [given_inputs.sizes(text, "--input-shape") for text in request["input_shape"]]
        return made_inputs.made_inputs(live.model, batch=1, shapes=shapes)
    if live.inputs is not None:
        return live.inputs
    # A size of 1 cannot be dynamic for torch: it would be a broadcast.
    return made_inputs.made_inputs(live.model, batch=2 if request["dynamic_axes"] else 1)


def axes_by_number(axes: Any) -> dict[str, Any]:
    """`{"input_ids": {"0": "batch"}}`: JSON has no keys that are numbers."""
    wrong = "--dynamic-axes: expected names by input and axis, such as {\"input_ids\": {\"0\": \"batch\"}}"
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
