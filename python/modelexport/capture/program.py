"""A captured program in the form that the native part takes: JSON texts, and weights where they lie in memory."""

import json
import math
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from torch.export.exported_program import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind
from torch.utils import _pytree as pytree

from modelexport._native import PROGRAM_SCHEMA
from modelexport.capture.graph_json import GraphWriter
from modelexport.capture.tensor_meta import TensorMetas, number
from modelexport.capture.weights import Storage, Weights, tied_names


@dataclass(frozen=True)
class LiveProgram:
    """What an archive would hold, without one."""

    name: str
    """Stands for the program in messages."""
    program: bytes
    weights: bytes
    constants: bytes
    storages: list[Storage]
    """The memory of the weights, kept alive by this object."""
    tied: list[list[str]]
    """Names of one and the same weight."""


def live_program(program: ExportedProgram, name: str) -> LiveProgram:
    metas = TensorMetas()
    weights = Weights(metas)
    return LiveProgram(
        name=name,
        program=_bytes(_program(program, metas)),
        weights=_bytes(weights.config(program.state_dict)),
        constants=_bytes(weights.config(program.constants)),
        storages=weights.storages,
        tied=tied_names(program.state_dict),
    )


def user_inputs(program: ExportedProgram) -> list[torch.fx.Node]:
    """The placeholders of what the caller gives, in the order of the leaves of its arguments."""
    nodes = (node for node in program.graph.nodes if node.op == "placeholder")
    specs = program.graph_signature.input_specs
    return [node for node, spec in zip(nodes, specs, strict=False) if spec.kind is InputKind.USER_INPUT]


def _bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _program(program: ExportedProgram, metas: TensorMetas) -> dict[str, Any]:
    signature = program.graph_signature
    calls, tuples = _module_calls(program)
    return {
        "graph_module": {
            "graph": GraphWriter(program, program.graph_module, metas).write(),
            "signature": {
                "input_specs": [_input_spec(spec) for spec in signature.input_specs],
                "output_specs": [_output_spec(spec) for spec in signature.output_specs],
            },
            "module_call_graph": calls,
            "treespec_namedtuple_fields": tuples,
        },
        "range_constraints": {
            str(symbol): {"min_val": _bound(range_.lower, math.ceil), "max_val": _bound(range_.upper, math.floor)}
            for symbol, range_ in program.range_constraints.items()
        },
        "schema_version": dict(zip(("major", "minor"), PROGRAM_SCHEMA, strict=True)),
        "torch_version": torch.__version__,
    }


def _bound(value: Any, rounded: Any) -> int | None:
    """One end of a range; nothing where it is open."""
    return int(rounded(value)) if isinstance(value, (sympy.Rational, sympy.Float)) else None


# ---- signature


def _input_spec(spec: Any) -> dict[str, Any]:
    arg = {"name": spec.arg.name}
    match spec.kind:
        case InputKind.USER_INPUT if isinstance(spec.arg, ConstantArgument):
            return {"constant_input": {"name": spec.arg.name, "value": _constant(spec.arg.value)}}
        case InputKind.USER_INPUT:
            return {"user_input": {"arg": None}}
        case InputKind.PARAMETER:
            return {"parameter": {"arg": arg, "parameter_name": spec.target}}
        case InputKind.BUFFER:
            return {"buffer": {"arg": arg, "buffer_name": spec.target, "persistent": bool(spec.persistent)}}
        case InputKind.CONSTANT_TENSOR:
            return {"tensor_constant": {"arg": arg, "tensor_constant_name": spec.target}}
        case InputKind.CUSTOM_OBJ:
            return {"custom_obj": {"arg": arg, "custom_obj_name": spec.target}}
        case _:
            return {"token": {"arg": arg}}


def _constant(value: Any) -> dict[str, Any]:
    kinds = {bool: "as_bool", int: "as_int", str: "as_string", float: "as_float"}
    kind = kinds.get(type(value))
    return {"as_none": True} if kind is None else {kind: number(value) if kind == "as_float" else value}


def _output_spec(spec: Any) -> dict[str, Any]:
    arg = {"name": spec.arg.name}
    match spec.kind:
        case OutputKind.USER_OUTPUT:
            return {"user_output": {"arg": None}}
        case OutputKind.LOSS_OUTPUT:
            return {"loss_output": {"arg": arg}}
        case OutputKind.BUFFER_MUTATION:
            return {"buffer_mutation": {"arg": arg, "buffer_name": spec.target}}
        case OutputKind.PARAMETER_MUTATION:
            return {"parameter_mutation": {"arg": arg, "parameter_name": spec.target}}
        case OutputKind.GRADIENT_TO_PARAMETER:
            return {"gradient_to_parameter": {"arg": arg, "parameter_name": spec.target}}
        case OutputKind.GRADIENT_TO_USER_INPUT:
            return {"gradient_to_user_input": {"arg": arg, "user_input_name": spec.target}}
        case OutputKind.USER_INPUT_MUTATION:
            return {"user_input_mutation": {"arg": arg, "user_input_name": spec.target}}
        case _:
            return {"token": {"arg": arg}}


# ---- modules, and the trees of inputs and outputs


def _module_calls(program: ExportedProgram) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """All modules; the first is the root, whose trees give inputs and outputs their names."""
    tuples: dict[str, Any] = {}
    calls = [{"fqn": call.fqn, "signature": None} for call in program.module_call_graph]
    root = program.module_call_graph[0].signature if calls else None
    if root is not None:
        try:
            calls[0]["signature"] = {
                "in_spec": pytree.treespec_dumps(root.in_spec, 1),
                "out_spec": pytree.treespec_dumps(root.out_spec, 1),
                "forward_arg_names": root.forward_arg_names or None,
            }
        except NotImplementedError:
            # A class that nobody told torch how to write down: values keep the names that torch gave them.
            return calls, tuples
        for spec in (root.in_spec, root.out_spec):
            _named_tuples(spec, tuples)
    return calls, tuples


def _named_tuples(spec: pytree.TreeSpec, found: dict[str, Any]) -> None:
    kind: Any = spec.context if isinstance(spec.context, type) else spec.type
    if spec.type is not None and pytree.is_namedtuple_class(kind):
        name = pytree.SUPPORTED_SERIALIZED_TYPES[kind].serialized_type_name
        found[name] = {"field_names": list(kind._fields)}
    for child in spec.children():
        _named_tuples(child, found)
