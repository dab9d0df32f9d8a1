"""Example inputs that share memory. The inputs of an ONNX model are apart from each other and from its weights, and
`torch.export` takes them so, too. Where `forward` changes a tensor that another input shows, PyTorch gives other numbers
for the example than the exported model would."""

from typing import NamedTuple

import torch
from torch._subclasses.fake_tensor import is_fake
from torch.export.exported_program import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.utils import _pytree as pytree

from modelexport.errors import ExportError


class _Given(NamedTuple):
    """A tensor that the graph is called with."""

    name: str
    is_input: bool
    memory: int
    """The address of its storage, or 0."""
    captured: int
    """The identity of the storage that stands for it in the capture."""


def refuse_changed(program: ExportedProgram) -> None:
    """Raises if `forward` changes memory that two inputs, or an input and a weight, have in common."""
    by_memory: dict[int, list[_Given]] = {}
    for given in _given(program):
        by_memory.setdefault(given.memory, []).append(given)
    by_memory.pop(0, None)
    shared = [group for group in by_memory.values() if len(group) > 1 and any(given.is_input for given in group)]
    if not shared:
        return
    changed = _changes(program)
    for group in shared:
        writers = [changed[given.captured] for given in group if given.captured in changed]
        if writers:
            names = " and ".join(f"`{given.name}`" for given in group)
            raise ExportError(
                f"{names} share memory, and node `{writers[0]}` changes it in place: the inputs of an ONNX model are tensors "
                "of their own. Pass a clone"
            )


def _given(program: ExportedProgram) -> list[_Given]:
    nodes = [node for node in program.graph.nodes if node.op == "placeholder"]
    leaves = iter(pytree.tree_leaves(program.example_inputs))
    found = []
    for node, spec in zip(nodes, program.graph_signature.input_specs, strict=False):
        is_input = spec.kind is InputKind.USER_INPUT
        if is_input:
            tensor = next(leaves, None)
        else:
            tensor = program.state_dict.get(spec.target, program.constants.get(spec.target))
        storage, captured = _storage(tensor), _storage(node.meta.get("val"))
        if storage is not None and captured is not None:
            name = node.name if is_input else spec.target
            memory = 0 if is_fake(tensor) else storage.data_ptr()
            found.append(_Given(name, is_input, memory, captured._cdata))
    return found


def _storage(tensor: object) -> torch.UntypedStorage | None:
    if isinstance(tensor, torch.Tensor) and tensor.layout is torch.strided:
        return tensor.untyped_storage()
    return None


def _changes(program: ExportedProgram) -> dict[int, str]:
    """The storages of the capture that are changed in place, each with the first node that does it."""
    changed: dict[int, str] = {}
    for node in program.graph.nodes:
        schema = getattr(node.target, "_schema", None)
        for parameter, arg in zip(schema.arguments, node.args, strict=False) if schema else ():
            is_written = parameter.alias_info is not None and parameter.alias_info.is_write
            storage = _storage(arg.meta.get("val")) if is_written and isinstance(arg, torch.fx.Node) else None
            if storage is not None:
                changed.setdefault(storage._cdata, node.name)
    return changed
