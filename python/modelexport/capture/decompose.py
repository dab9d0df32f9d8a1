"""Operators that the registry has no row for become what torch itself makes of them; nothing else is touched.

`ExportedProgram.run_decompositions` would trace the whole program again, without its in-place operators. Here one node
after the other is traced alone and replaced, and the new nodes belong to the module call of the old one.
"""

import copy
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch._decomp import decomposition_table
from torch._export.passes.lift_constants_pass import ConstantAttrMap, lift_constants_pass
from torch._export.utils import _detect_fake_mode_from_gm
from torch._ops import DispatchKey, OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export.exported_program import ExportedProgram
from torch.fx.experimental.proxy_tensor import make_fx
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils import _pytree as pytree

from modelexport.capture.graph_json import SYMBOLIC_OPERATORS

# Those of the given targets that cannot be exported.
Missing = Callable[[list[str]], list[str]]

NO_DECOMPOSITION = "torch has no decomposition for it"

aten = torch.ops.aten


class NotDecomposed(Exception):
    """Why an operator stays what it is."""

    # What its decomposition ends in, if it is that which cannot be exported.
    end: str | None = None


def decomposed(program: ExportedProgram, missing: Missing) -> tuple[ExportedProgram, dict[str, str]]:
    """The program without operators that are missing, and for those that stay, why. What is given is not changed."""
    if not missing(_targets(program.graph_module)):
        return program, {}
    module, signature = copy.deepcopy(program.graph_module), copy.deepcopy(program.graph_signature)
    mode = _detect_fake_mode_from_gm(module) or FakeTensorMode()
    worker = _Decomposer(missing, mode)
    with torch.no_grad(), _sizes_are_open(mode):
        worker.whole(module)
    constants = {**program.constants, **lift_constants_pass(module, signature, ConstantAttrMap())}
    return program._update(module, signature, constants=constants), worker.reasons


def _targets(module: torch.fx.GraphModule) -> list[str]:
    """The operators of a graph and of the graphs inside it."""
    graphs = [inner.graph for inner in module.modules() if isinstance(inner, torch.fx.GraphModule)]
    targets = {node.target for graph in graphs for node in graph.nodes}
    return sorted(str(target) for target in targets if isinstance(target, OpOverload))


@contextmanager
def _sizes_are_open(mode: FakeTensorMode) -> Iterator[None]:
    """A decomposition that asks how large a dynamic dimension is would fit that size alone: it is refused."""

    def refuse(expression: Any, value: Any) -> None:
        raise NotDecomposed(f"torch's decomposition is only valid for some sizes: {expression}")

    sizes = mode.shape_env
    if sizes is None:
        yield
        return
    vars(sizes)["_check_frozen"] = refuse
    try:
        yield
    finally:
        del vars(sizes)["_check_frozen"]


class _Decomposer:
    def __init__(self, missing: Missing, mode: FakeTensorMode):
        self._missing = missing
        self._mode = mode
        self.reasons: dict[str, str] = {}

    def whole(self, module: torch.fx.GraphModule, is_inner: bool = False) -> None:
        """Replaces what is missing in a graph and in the graphs inside it, as far as that is possible."""
        for node in self._missing_nodes(module.graph):
            try:
                traced = self._expanded(node, [_operator(node)])
                if is_inner and traced.graph.find_nodes(op="get_attr"):
                    raise NotDecomposed("torch's decomposition adds a constant to a nested graph")
                _splice(node, traced)
            except NotDecomposed as reason:
                self.reasons.setdefault(str(node.target), str(reason))
        module.recompile()
        for node in module.graph.find_nodes(op="get_attr"):
            inner = getattr(module, node.target)
            if isinstance(inner, torch.fx.GraphModule):
                with _region(node):
                    self.whole(inner, is_inner=True)

    def _missing_nodes(self, graph: torch.fx.Graph) -> list[torch.fx.Node]:
        nodes = [node for node in graph.nodes if isinstance(node.target, OpOverload)]
        missing = set(self._missing(sorted({str(node.target) for node in nodes})))
        return [node for node in nodes if str(node.target) in missing]

    def _expanded(self, node: torch.fx.Node, within: list[OpOverload]) -> torch.fx.GraphModule:
        """What torch makes of `node`, down to operators that can be exported. `within` are the operators that this one
        came out of, and itself."""
        traced = self._traced(node)
        for inner in self._missing_nodes(traced.graph):
            called = _operator(inner)
            if called in within:
                raise NotDecomposed(NO_DECOMPOSITION)
            try:
                _splice(inner, self._expanded(inner, [*within, called]))
            except NotDecomposed as reason:
                # Primitives are torch's own names for what it cannot decompose.
                if str(reason) != NO_DECOMPOSITION or called.namespace == "prims":
                    raise
                error = NotDecomposed(f"torch decomposes it into {inner.target}, which is not supported either")
                error.end = str(inner.target)
                raise error from None
        return traced

    def _traced(self, node: torch.fx.Node) -> torch.fx.GraphModule:
        """One step of torch's: what `node` calls, as a graph of the tensors and sizes that it is given."""
        decomposition = _decomposition(_operator(node))
        inputs = node.all_input_nodes

        def call(*values: Any) -> Any:
            known = dict(zip(inputs, values, strict=True))
            result = decomposition(*_given(node.args, known), **_given(node.kwargs, known))
            if result is NotImplemented:
                raise NotDecomposed(NO_DECOMPOSITION)
            if _gives_new_memory(_operator(node)):
                result = _copied(result, values)
            # A tuple with names would be called by its class.
            return tuple(result) if isinstance(result, tuple) else result

        try:
            # Before autograd, so that operators which are made of others stay whole.
            with self._mode:
                traced = make_fx(call, pre_dispatch=True)(*(given.meta["val"] for given in inputs))
        except NotDecomposed:
            raise
        except Exception as error:
            first = str(error).strip().partition("\n")[0]
            raise NotDecomposed(f"torch's decomposition fails: {type(error).__name__}: {first}") from error
        traced.graph.eliminate_dead_code()
        _check(node, traced)
        return traced


@contextmanager
def _region(graph: torch.fx.Node) -> Iterator[None]:
    """The autocast under which a graph inside a node runs, if that is what the node is for."""
    autocast = [user for user in graph.users if user.target is torch.ops.higher_order.wrap_with_autocast]
    if not autocast:
        yield
        return
    arguments: tuple[Any, ...] = autocast[0].args
    device, dtype, enabled, cache, *_ = arguments
    with torch.autocast(device, dtype, enabled, cache):
        yield


def _operator(node: torch.fx.Node) -> OpOverload:
    """The operator that a node calls."""
    return cast(OpOverload, node.target)


def _given(arg: Any, known: dict[torch.fx.Node, Any]) -> Any:
    """An argument with values for nodes, and lists that may be changed."""
    if isinstance(arg, torch.fx.Node):
        return known[arg]
    if isinstance(arg, (list, tuple)):
        kind = tuple if isinstance(arg, tuple) else list
        return kind(_given(part, known) for part in arg)
    if isinstance(arg, dict):
        return {key: _given(part, known) for key, part in arg.items()}
    return arg


# ---- what torch knows


def _decomposition(op: OpOverload) -> Callable[..., Any]:
    """What computes the same with other operators: first what eager PyTorch itself runs, then what torch has for
    compilers."""
    if op._can_decompose():
        return _kernel(op, DispatchKey.CompositeImplicitAutograd)
    if (twin := _functional_twin(op)) is not None:
        return _copying(op, twin)
    if any(torch.is_autocast_enabled(device) for device in ("cpu", "cuda")):
        # Inside an operator that is not made of others nothing is cast, but what replaces it would be.
        raise NotDecomposed("torch's decomposition computes a different result under autocast")
    if op in decomposition_table:
        return decomposition_table[op]
    if op.has_kernel_for_dispatch_key(DispatchKey.CompositeExplicitAutograd):
        return _kernel(op, DispatchKey.CompositeExplicitAutograd)
    raise NotDecomposed(NO_DECOMPOSITION)


def _gives_new_memory(op: OpOverload) -> bool:
    """Whether results never share memory with what is given. Operators that are made of others may do as they like."""
    return not op._can_decompose() and all(result.alias_info is None for result in op._schema.returns)


def _copied(result: Any, given: tuple) -> Any:
    """A decomposition for compilers may give back what it got, which would be seen when one of the two is changed."""
    memory = {StorageWeakRef(value.untyped_storage()) for value in given if isinstance(value, torch.Tensor)}

    def own(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.clone() if StorageWeakRef(tensor.untyped_storage()) in memory else tensor

    return pytree.tree_map_only(torch.Tensor, own, result)


def _kernel(op: OpOverload, key: DispatchKey) -> Callable[..., Any]:
    if key in op.py_kernels:
        return op.py_kernels[key]

    def run(*args: Any, **kwargs: Any) -> Any:
        # The mode that traces would be asked first, and take the operator as it is.
        with torch._C.DisableTorchFunction():
            return op._op_dk(key, *args, **kwargs)

    return run


def _functional_twin(op: OpOverload) -> OpOverload | None:
    """What computes that which `op` writes to one tensor: `f` for `f_` and for `f.out`."""
    if not op._schema.is_mutable or len(_written(op)) != 1:
        return None
    namespace, _, name = op._schema.name.partition("::")
    packet = getattr(getattr(torch.ops, namespace), name.removesuffix("_"), None)
    wanted = [(argument.name, str(argument.type)) for argument in op._schema.arguments if not argument.is_out]
    for overload in packet.overloads() if packet is not None else ():
        twin = getattr(packet, overload)
        takes = [(argument.name, str(argument.type)) for argument in twin._schema.arguments]
        if takes == wanted and not twin._schema.is_mutable and len(twin._schema.returns) == 1:
            return twin
    return None


def _written(op: OpOverload) -> list[Any]:
    return [argument for argument in op._schema.arguments if argument.alias_info and argument.alias_info.is_write]


def _copying(op: OpOverload, twin: OpOverload) -> Callable[..., Any]:
    """`x.f_(y)` and `f(x, y, out=z)` as `f(x, y)` that is copied into the tensor."""
    (target,) = _written(op)

    def run(*args: Any, **kwargs: Any) -> Any:
        into = kwargs.pop(target.name) if target.is_out else args[0]
        result = twin(*args, **kwargs)
        if into.shape != result.shape:
            raise NotDecomposed("it gives the tensor that it writes to another size")
        return into.copy_(result)

    return run


# ---- from one graph into another


def _check(node: torch.fx.Node, traced: torch.fx.GraphModule) -> None:
    """What was traced must give what the program expects, and be of a kind that a program may hold."""
    for inner in traced.graph.nodes:
        if inner.op == "call_function" and not _is_known(inner.target):
            raise NotDecomposed(f"torch's decomposition contains {inner.target}, which a program cannot contain")
        if inner.op == "get_attr" and not isinstance(getattr(traced, inner.target), torch.Tensor):
            raise NotDecomposed("torch's decomposition contains nested graphs")
    made, expected = pytree.tree_leaves(_results(traced)), pytree.tree_leaves(node.meta.get("val"))
    if len(made) != len(expected) or not all(map(_fits, made, expected)):
        raise NotDecomposed("torch's decomposition does not return tensors of the same types and sizes")


def _is_known(target: Any) -> bool:
    return isinstance(target, OpOverload) or target is operator.getitem or target in SYMBOLIC_OPERATORS


def _fits(made: Any, expected: Any) -> bool:
    if not isinstance(made, torch.fx.Node) or not isinstance(expected, torch.Tensor):
        return made is None and expected is None
    value = made.meta["val"]
    return value.dtype == expected.dtype and [*map(str, value.shape)] == [*map(str, expected.shape)]


def _results(traced: torch.fx.GraphModule) -> Any:
    return traced.graph.output_node().args[0]


def _splice(node: torch.fx.Node, traced: torch.fx.GraphModule) -> None:
    """The nodes of `traced` instead of `node`: they belong to the same module call and line of Python, and the results
    keep their names."""
    graph = node.graph
    shared = {"nn_module_stack": {}, **node.meta}
    inner_nodes = [inner for inner in traced.graph.nodes if inner.op != "output"]
    moved = dict(zip(inner_nodes, node.all_input_nodes, strict=False))
    with graph.inserting_before(node):
        for inner in inner_nodes[len(moved) :]:
            new = graph.node_copy(inner, moved.__getitem__)
            if inner.op == "get_attr":
                new.target = new.name
                setattr(graph.owning_module, new.name, getattr(traced, inner.target))
            new.meta = {**shared, "val": inner.meta.get("val")}
            moved[inner] = new
        results = torch.fx.node.map_arg(_results(traced), moved.__getitem__)
        free = set(moved.values()) - set(node.all_input_nodes)
        if isinstance(results, torch.fx.Node):
            _take_place(node, results, free)
            return
        for taken in list(node.users):
            _take_place(taken, results[taken.args[1]], free)
        graph.erase_node(node)


def _take_place(old: torch.fx.Node, new: torch.fx.Node, free: set[torch.fx.Node]) -> None:
    """`new` takes the place and the name of `old`. One that has its own name already gets an alias."""
    if new not in free:
        new = old.graph.call_function(aten.alias.default, (new,))
    free.discard(new)
    new.meta = dict(old.meta)
    old.replace_all_uses_with(new)
    old.graph.erase_node(old)
    new.name = old.name
