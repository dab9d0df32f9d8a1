"""The FX graph of a captured program as the JSON that `torch.export.save` writes.

torch's own serialiser takes milliseconds per node; this walk takes microseconds and writes only what a reader needs.
A node that it cannot express is left to torch's serialiser, that node alone.
"""

import inspect
import math
import operator
from collections.abc import Iterable
from typing import Any, cast

import torch
from torch.export.exported_program import ExportedProgram
from torch.export.graph_signature import CustomObjArgument

from modelexport.capture.tensor_meta import DTYPES, LAYOUTS, MEMORY_FORMATS, TensorMetas, number

POSITIONAL, KEYWORD = 1, 2

# Arithmetic on sizes, which has no ATen schema.
SYMBOLIC_OPERATORS = {
    operator.eq,
    operator.ne,
    operator.le,
    operator.ge,
    operator.lt,
    operator.gt,
    operator.neg,
    operator.pos,
    operator.mul,
    operator.add,
    operator.sub,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.truediv,
    operator.and_,
    operator.or_,
    operator.lshift,
    operator.rshift,
    math.trunc,
    torch.sym_not,
    torch.sym_int,
    torch.sym_float,
    torch.sym_ite,
    torch.sym_max,
    torch.sym_min,
    torch.sym_sqrt,
}


class NotExpressible(Exception):
    """Something that this walk does not know."""


class GraphWriter:
    """Writes one graph; the graphs inside its nodes get writers of their own."""

    def __init__(self, program: ExportedProgram, module: torch.fx.GraphModule, metas: TensorMetas):
        self._program = program
        self._module = module
        self._metas = metas
        self._tensors: dict[str, Any] = {}
        self._sym_ints: dict[str, Any] = {}
        self._sym_floats: dict[str, Any] = {}
        self._sym_bools: dict[str, Any] = {}
        self._objects: dict[str, Any] = {}
        # A result of a node that is taken out twice has one value, that of the first.
        self._same_as: dict[str, str] = {}

    def write(self) -> dict[str, Any]:
        inputs, nodes, outputs, is_single = [], [], [], False
        for node in self._module.graph.nodes:
            if node.op == "placeholder":
                inputs.append(self._graph_input(node))
            elif node.op == "call_function" and node.target is not operator.getitem:
                nodes.append(self._node(node))
            elif node.op == "output":
                (result,) = node.args
                is_single = isinstance(result, torch.fx.Node)
                outputs = [self._argument(each) for each in ([result] if is_single else result)]
        return {
            "inputs": inputs,
            "outputs": outputs,
            "nodes": nodes,
            "tensor_values": self._tensors,
            "sym_int_values": self._sym_ints,
            "sym_bool_values": self._sym_bools,
            "sym_float_values": self._sym_floats,
            "custom_obj_values": self._objects,
            "is_single_tensor_return": is_single,
        }

    # ---- values

    def _graph_input(self, node: torch.fx.Node) -> dict[str, Any]:
        value = node.meta["val"]
        if isinstance(value, CustomObjArgument):
            description = {"name": node.name, "class_fqn": value.class_fqn}
            self._objects[node.name] = {"name": value.name, "class_fqn": value.class_fqn}
            return {"as_custom_obj": description}
        if isinstance(value, (torch.Tensor, torch.SymInt, torch.SymFloat, torch.SymBool)):
            return self._result(node.name, value)
        return self._argument(value)

    def _result(self, name: str, value: Any) -> dict[str, Any]:
        """A value that comes into being."""
        if value is None:
            return {"as_none": True}
        if isinstance(value, torch.Tensor):
            return {"as_tensor": self._tensor(name, value)}
        if isinstance(value, (bool, torch.SymBool)):
            self._sym_bools[name] = self._metas.sym_bool(value)
            return {"as_sym_bool": {"as_name": name}}
        if isinstance(value, (int, torch.SymInt)):
            self._sym_ints[name] = self._metas.sym_int(value)
            return {"as_sym_int": {"as_name": name}}
        if isinstance(value, (float, torch.SymFloat)):
            self._sym_floats[name] = self._metas.sym_float(value)
            return {"as_sym_float": {"as_name": name}}
        raise NotExpressible(f"a result of type {type(value)}")

    def _tensor(self, name: str, value: torch.Tensor) -> dict[str, str]:
        self._tensors[name] = self._metas.of(value)
        return {"name": name}

    # ---- nodes

    def _node(self, node: torch.fx.Node) -> dict[str, Any]:
        try:
            written = {"name": node.name, "target": target_name(node.target), **self._call(node)}
        except NotExpressible:
            written = self._by_torch(node)
        written["metadata"] = _metadata(node)
        return written

    def _call(self, node: torch.fx.Node) -> dict[str, Any]:
        target, value = node.target, node.meta.get("val")
        if target in SYMBOLIC_OPERATORS or isinstance(value, (torch.SymInt, torch.SymBool, torch.SymFloat)):
            return {"inputs": self._symbolic_inputs(node), "outputs": [self._result(node.name, value)]}
        if isinstance(target, torch._ops.OpOverload):
            return {"inputs": self._inputs(node), "outputs": self._outputs(node, value)}
        if isinstance(target, torch._ops.HigherOrderOperator) or type(target) is type(_metadata):
            return {
                "inputs": self._inputs_without_schema(node),
                "outputs": self._outputs_without_schema(node, value),
                "is_hop_single_tensor_return": isinstance(value, torch.Tensor),
            }
        raise NotExpressible(f"a target of type {type(target)}")

    def _symbolic_inputs(self, node: torch.fx.Node) -> list[dict[str, Any]]:
        names = _parameter_names(node.target)
        return [_named(name, self._argument(arg), POSITIONAL) for name, arg in zip(names, node.args, strict=False)]

    def _inputs(self, node: torch.fx.Node) -> list[dict[str, Any]]:
        """What was given, by the names of the schema; what has its default is left out."""
        inputs = []
        args, kwargs = node.args, node.kwargs
        for i, formal in enumerate(_schema(node).arguments):
            name = formal.name
            if name in kwargs:
                inputs.append(_named(name, self._argument(kwargs[name], formal), KEYWORD))
            elif i < len(args) and not formal.kwarg_only:
                inputs.append(_named(name, self._argument(args[i], formal), POSITIONAL))
        return inputs

    def _inputs_without_schema(self, node: torch.fx.Node) -> list[dict[str, Any]]:
        positional = [_named("", self._argument(arg), POSITIONAL) for arg in node.args]
        return positional + [_named(name, self._argument(arg), KEYWORD) for name, arg in node.kwargs.items()]

    def _outputs(self, node: torch.fx.Node, value: Any) -> list[dict[str, Any]]:
        returns = _schema(node).returns
        if not returns:
            return []
        if len(returns) == 1:
            if isinstance(value, (list, tuple)):
                return [{"as_tensors": self._elements(node, value)}]
            return [self._result(node.name, value)]
        return self._several(node, value)

    def _outputs_without_schema(self, node: torch.fx.Node, value: Any) -> list[dict[str, Any]]:
        if isinstance(value, tuple):
            return self._several(node, value)
        if isinstance(value, dict):
            named = [(self._taken(node, key), key, part) for key, part in value.items()]
            return [{"as_tensors": [self._tensor(_name(taken, node, key), part) for taken, key, part in named]}]
        return [self._result(node.name, value)]

    def _several(self, node: torch.fx.Node, values: Iterable[Any]) -> list[dict[str, Any]]:
        outputs = []
        for i, value in enumerate(values):
            taken = self._taken(node, i)
            if isinstance(value, (list, tuple)):
                outputs.append({"as_tensors": self._elements(taken, value, f"{node.name}_unused_{i}")})
            else:
                outputs.append(self._result(_name(taken, node, i), value))
        return outputs

    def _elements(self, node: torch.fx.Node | None, values: Iterable[Any], otherwise: str = "") -> list[dict[str, str]]:
        """Tensors of a list, each named after the node that takes it out."""
        elements = []
        for i, value in enumerate(values):
            if value is None:
                continue
            if not isinstance(value, torch.Tensor):
                raise NotExpressible(f"a list with a result of type {type(value)}")
            name = _name(self._taken(node, i), node, i) if node is not None else f"{otherwise}_{i}"
            elements.append(self._tensor(name, value))
        return elements

    def _taken(self, node: torch.fx.Node, key: Any) -> torch.fx.Node | None:
        """The node that takes the result `key` out of those of `node`."""
        first = None
        for user in node.users:
            if user.target is not operator.getitem:
                raise NotExpressible(f"results of {node} go to {user} as a whole")
            if user.args[1] == key:
                if first is None:
                    first = user
                else:
                    self._same_as[user.name] = first.name
        return first

    # ---- arguments

    def _argument(self, arg: Any, formal: Any = None) -> dict[str, Any]:
        if isinstance(arg, torch.fx.Node):
            return self._reference(arg)
        if isinstance(arg, (list, tuple)):
            return self._list(arg, formal)
        plain = _PLAIN.get(type(arg))
        if plain is not None:
            return plain(arg)
        if isinstance(arg, dict):
            if all(isinstance(key, str) for key in arg):
                return {"as_string_to_argument": {key: self._argument(part) for key, part in arg.items()}}
        elif isinstance(arg, (torch._ops.OpOverload, torch._ops.HigherOrderOperator)):
            return {"as_operator": target_name(arg)}
        raise NotExpressible(f"an argument of type {type(arg)}")

    def _reference(self, node: torch.fx.Node) -> dict[str, Any]:
        name = self._value_name(node)
        if name in self._tensors:
            return {"as_tensor": {"name": name}}
        if name in self._sym_ints:
            return {"as_sym_int": {"as_name": name}}
        if name in self._sym_floats:
            return {"as_sym_float": {"as_name": name}}
        if name in self._sym_bools:
            return {"as_sym_bool": {"as_name": name}}
        if node.op == "get_attr":
            graph = getattr(self._module, str(node.target))
            if isinstance(graph, torch.fx.GraphModule):
                inner = GraphWriter(self._program, graph, self._metas).write()
                return {"as_graph": {"name": node.target, "graph": inner}}
        value = node.meta.get("val")
        if isinstance(value, CustomObjArgument):
            return {"as_custom_obj": {"name": name, "class_fqn": value.class_fqn}}
        raise NotExpressible(f"the value {name}")

    def _value_name(self, node: torch.fx.Node) -> str:
        return self._same_as.get(node.name, node.name)

    def _list(self, items: Any, formal: Any) -> dict[str, Any]:
        if not items:
            return _empty_list(formal)
        kinds = {type(item) for item in items}
        if len(kinds) == 1:
            (kind,) = kinds
            plural = _PLURALS.get(kind)
            if plural is not None:
                return {plural: [number(item) for item in items] if kind is float else list(items)}
        if all(isinstance(item, (torch.fx.Node, int, float)) for item in items) and kinds != {torch.fx.Node}:
            return self._numbers(items)
        if torch.fx.Node in kinds:
            return self._values(items, kinds)
        if all(isinstance(item, (list, tuple)) for item in items):
            return self._lists(items)
        raise NotExpressible(f"a list of {kinds}")

    def _values(self, items: Any, kinds: set[type]) -> dict[str, Any]:
        if kinds == {torch.fx.Node}:
            names = [self._value_name(item) for item in items]
            numbers = (self._sym_ints, self._sym_floats, self._sym_bools)
            has_tensors = all(name in self._tensors for name in names)
            if not has_tensors and all(any(name in table for table in numbers) for name in names):
                return self._numbers(items)
            return {"as_tensors": [{"name": name} for name in names]}
        if kinds <= {torch.fx.Node, type(None)}:
            return {
                "as_optional_tensors": [
                    {"as_none": True} if item is None else {"as_tensor": {"name": self._value_name(item)}}
                    for item in items
                ]
            }
        raise NotExpressible(f"a list of {kinds}")

    def _numbers(self, items: Any) -> dict[str, Any]:
        """A list in which some numbers are values of the graph."""
        kinds = (
            ("as_sym_ints", self._sym_ints, int, "as_int"),
            ("as_sym_floats", self._sym_floats, float, "as_float"),
            ("as_sym_bools", self._sym_bools, bool, "as_bool"),
        )
        for plural, values, plain, singular in kinds:
            written: list[dict[str, Any]] = []
            for item in items:
                if isinstance(item, torch.fx.Node) and self._value_name(item) in values:
                    written.append({"as_name": self._value_name(item)})
                elif type(item) is plain:
                    written.append({singular: number(item) if plain is float else item})
            if len(written) == len(items):
                return {plural: written}
        raise NotExpressible("a list of numbers of different kinds")

    def _lists(self, items: Any) -> dict[str, Any]:
        inner = {type(part) for item in items for part in item}
        if inner == {torch.fx.Node}:
            return {"as_nested_tensors": [[{"name": self._value_name(part)} for part in item] for item in items]}
        if inner <= {int}:
            return {"as_int_lists": [list(item) for item in items]}
        if inner == {float}:
            return {"as_float_lists": [[number(part) for part in item] for item in items]}
        raise NotExpressible(f"lists of {inner}")

    # ---- what torch must do

    def _by_torch(self, node: torch.fx.Node) -> dict[str, Any]:
        """One node by torch's own serialiser."""
        from torch._export.serde.serialize import GraphModuleSerializer, _dataclass_to_dict

        serializer = GraphModuleSerializer(self._program.graph_signature, [])
        state = serializer.graph_state
        # It looks names up to tell kinds of values apart.
        state.sym_int_values.update(self._sym_ints)
        state.sym_float_values.update(self._sym_floats)
        state.sym_bool_values.update(self._sym_bools)
        serializer.duplicate_getitem_nodes.update(self._same_as)
        serializer.handle_call_function(node)
        self._same_as.update(serializer.duplicate_getitem_nodes)
        tables = (
            (state.tensor_values, self._tensors),
            (state.sym_int_values, self._sym_ints),
            (state.sym_float_values, self._sym_floats),
            (state.sym_bool_values, self._sym_bools),
            (state.custom_obj_values, self._objects),
        )
        for found, known in tables:
            for name, value in found.items():
                known.setdefault(name, _dataclass_to_dict(value))
        return _dataclass_to_dict(state.nodes[-1])


def target_name(target: Any) -> str:
    """`torch.ops.aten.add.Tensor`, `_operator.mul`."""
    module = target.__module__
    if module.startswith("torch._ops"):
        module = f"torch.ops{module.removeprefix('torch._ops')}"
    return f"{module}.{target.__name__}"


def _named(name: str, arg: dict[str, Any], kind: int) -> dict[str, Any]:
    return {"name": name, "arg": arg, "kind": kind}


def _name(taken: torch.fx.Node | None, node: torch.fx.Node, key: Any) -> str:
    """The name of a result: that of the node which takes it out, or one that says that nothing does."""
    return f"{node.name}_unused_{key}" if taken is None else taken.name


def _metadata(node: torch.fx.Node) -> dict[str, str]:
    metadata = {}
    if trace := node.meta.get("stack_trace"):
        metadata["stack_trace"] = trace
    if stack := node.meta.get("nn_module_stack"):
        metadata["nn_module_stack"] = ";".join(f"{key},{path},{kind}" for key, (path, kind) in stack.items())
    return metadata


_PARAMETER_NAMES: dict[Any, list[str]] = {}


def _parameter_names(target: Any) -> list[str]:
    names = _PARAMETER_NAMES.get(target)
    if names is None:
        if isinstance(target, torch._ops.OpOverload):
            names = [formal.name for formal in target._schema.arguments]
        elif target in SYMBOLIC_OPERATORS:
            names = list(inspect.signature(target).parameters)
        else:
            raise NotExpressible(f"a symbolic number of {target}")
        _PARAMETER_NAMES[target] = names
    return names


def _empty_list(formal: Any) -> dict[str, Any]:
    """An empty list is of the kind that the schema says; without one, of tensors."""
    if formal is None:
        return {"as_tensors": []}
    kind = formal.type
    if isinstance(kind, torch.OptionalType):
        kind = kind.getElementType()
    if not isinstance(kind, torch.ListType):
        raise NotExpressible(f"an empty list for {kind}")
    kind = kind.getElementType()
    if isinstance(kind, torch.OptionalType):
        kind = kind.getElementType()
    plural = _EMPTY.get(type(kind))
    if plural is None:
        raise NotExpressible(f"an empty list of {kind}")
    return {plural: []}


_PLURALS = {bool: "as_bools", int: "as_ints", float: "as_floats", str: "as_strings"}

_EMPTY = {
    torch.BoolType: "as_bools",
    torch.IntType: "as_ints",
    torch.FloatType: "as_floats",
    torch.StringType: "as_strings",
    torch.TensorType: "as_tensors",
}

_PLAIN = {
    type(None): lambda _: {"as_none": True},
    bool: lambda value: {"as_bool": value},
    int: lambda value: {"as_int": value},
    float: lambda value: {"as_float": number(value)},
    str: lambda value: {"as_string": value},
    complex: lambda value: {"as_complex": {"real": number(value.real), "imag": number(value.imag)}},
    torch.dtype: lambda value: {"as_scalar_type": DTYPES[value]},
    torch.device: lambda value: {"as_device": {"type": value.type, "index": value.index}},
    torch.memory_format: lambda value: {"as_memory_format": MEMORY_FORMATS[value]},
    torch.layout: lambda value: {"as_layout": LAYOUTS[value]},
}


def _schema(node: torch.fx.Node) -> Any:
    """The schema of the operator that a node calls."""
    return cast(torch._ops.OpOverload, node.target)._schema
