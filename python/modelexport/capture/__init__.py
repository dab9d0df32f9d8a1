"""From a live model to what the native part takes: capture, dynamic shapes, the program as JSON, weights in place."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.export.exported_program import ExportedProgram
from torch.utils import _pytree as pytree

from modelexport.capture import branch_stacks, hollow, shapes, shared_inputs
from modelexport.capture.decompose import Missing, decomposed
from modelexport.capture.fixed_sizes import fixed_sizes_explained
from modelexport.capture.lock import CAPTURE_LOCK
from modelexport.capture.program import LiveProgram, live_program, user_inputs
from modelexport.capture.recurrent import dynamic_recurrence
from modelexport.capture.results import plain_results
from modelexport.capture.state import untouched


class Captured(NamedTuple):
    """A program, and what goes with it."""

    program: LiveProgram
    # `SYMBOL=NAME` for the dimensions that have names.
    dimension_names: list[str]
    # Why torch did not decompose operators that cannot be exported.
    not_decomposed: dict[str, str]


def capture_module(
    model: torch.nn.Module,
    args: tuple,
    kwargs: dict[str, Any],
    dynamic_shapes: Any = None,
    dynamic_axes: Mapping[str, Any] | None = None,
    input_names: Sequence[str] = (),
    strict: bool = False,
    *,
    missing: Missing,
) -> Captured:
    """Captures a model, and leaves it as it was."""
    if hollow.has_meta_tensors(model):
        args, kwargs = hollow.inputs_without_meta((args, kwargs))
    if dynamic_axes:
        if dynamic_shapes is not None:
            raise ValueError("dynamic_shapes and dynamic_axes are two forms of the same: give one of them")
        arguments = shapes.bound_arguments(model, args, kwargs)
        dynamic_shapes = shapes.from_dynamic_axes(dynamic_axes, arguments, input_names)
    dynamic_shapes, names = shapes.split(model, args, kwargs, dynamic_shapes)
    with CAPTURE_LOCK, hollow.without_meta(model):
        program = captured(model, args, kwargs, dynamic_shapes, strict)
        return _handed_over(program, type(model).__name__, names, missing)


def captured(
    model: torch.nn.Module, args: tuple, kwargs: dict[str, Any], dynamic_shapes: Any, strict: bool = False
) -> ExportedProgram:
    """What `torch.export` makes of a model, which is left as it was. The caller holds the lock."""
    with untouched(model), dynamic_recurrence(), fixed_sizes_explained():
        if strict:
            # It would read the code of the hook, too, and has the stacks of branches already.
            return torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=True)
        with plain_results(model), branch_stacks.recording():
            program = torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False)
        branch_stacks.complete(program, model)
        return program


def capture_program(program: ExportedProgram, dynamic_shapes: Any = None, *, missing: Missing) -> Captured:
    """The same for a program that was captured before. Its dimensions are dynamic or not; `dynamic_shapes` names them."""
    names: shapes.AxisNames = {}
    with CAPTURE_LOCK:
        if dynamic_shapes is not None:
            args, kwargs = program.example_inputs
            forward_arguments = program.module_call_graph[0].signature.forward_arg_names or ()
            arguments = {**dict(zip(forward_arguments, args, strict=False)), **kwargs}
            shapes.collect(arguments, dynamic_shapes, names)
        return _handed_over(program, "ExportedProgram", names, missing)


def _handed_over(program: ExportedProgram, name: str, names: shapes.AxisNames, missing: Missing) -> Captured:
    shared_inputs.refuse_changed(program)
    program, reasons = decomposed(program, missing)
    symbols = []
    if names:
        leaves = pytree.tree_leaves(program.example_inputs)
        symbols = shapes.symbol_names(leaves, user_inputs(program), names)
    return Captured(live_program(program, name), symbols, reasons)
