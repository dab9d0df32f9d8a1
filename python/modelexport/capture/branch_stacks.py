"""Which module calls the nodes inside branches and loop bodies belong to.

A capture that follows Python hands the functions of `cond`, `while_loop`, `scan` and `map` to torch's bytecode compiler,
which knows the modules that they call, and then traces what came out of it without a look at them. Asked to keep what
is known of nodes, the tracer takes over the compiler's module stacks. They begin at the function, name a module by its
`id`, and count calls function by function: here they become stacks like those of all other nodes.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import torch
from torch.export.exported_program import ExportedProgram
from torch.fx.traceback import preserve_node_meta

Stack = dict[str, tuple[str, str]]

# What torch hangs the model into while it captures.
_EXPORT_ROOT = "_export_root"


def recording() -> Any:
    """While this is open, a capture keeps the stacks inside branches."""
    return preserve_node_meta()


def complete(program: ExportedProgram, model: torch.nn.Module) -> None:
    """Writes whole stacks where a capture of `model` left those of the compiler."""
    graph = program.graph_module
    if any(isinstance(child, torch.fx.GraphModule) for child in graph.children()):
        _Stacks(model, graph).of_branches(graph)


class _Stacks:
    def __init__(self, model: torch.nn.Module, graph: torch.fx.GraphModule):
        self._paths: dict[str, list[str]] = {}
        for path, module in model.named_modules(remove_duplicate=False):
            self._paths.setdefault(str(id(module)), []).append(path)
        self._known = {path for paths in self._paths.values() for path in paths}
        # The number of the next call of each module; those outside of branches have theirs.
        self._next: dict[str, int] = {}
        for stack in _whole_stacks(graph):
            for key, (path, _) in stack.items():
                self._next[path] = max(self._next.get(path, 0), _split_call(key)[1] + 1)
        self._calls: dict[tuple, int] = {}

    def of_branches(self, graph: torch.fx.GraphModule, base: Stack | None = None, function: Any = None) -> None:
        """`base`, `function`: the stack of the operator that the compiler was called for, and the operator; none
        outside of all branches."""
        for node in graph.graph.nodes:
            if node.op != "call_function":
                continue
            stack = node.meta.get("nn_module_stack")
            is_whole = _is_whole(stack)
            if base is not None and not is_whole and _is_recorded(node):
                node.meta["nn_module_stack"] = self._continued(base, stack or {}, function)
            for branch in _branches(graph, node):
                self.of_branches(branch, *((stack, node) if is_whole else (base, function)))

    def _continued(self, base: Stack, stack: Stack, function: Any) -> Stack:
        whole = dict(base)
        for key, (source, kind) in stack.items():
            name, _ = _split_call(key)
            path = self._path(name, source, next(reversed(whole.values()))[0])
            if path is None:
                # A module that is no part of the model: its nodes are those of its caller.
                continue
            call = (function, key, source)
            if call not in self._calls:
                self._calls[call] = self._next.get(path, 0)
                self._next[path] = self._calls[call] + 1
            number = self._calls[call]
            whole[f"L__self__{path}@{number}" if number else f"L__self__{path}"] = (path, kind)
        return whole

    def _path(self, name: str, source: str, caller: str) -> str | None:
        """The path of the module with this `id`; of several one below its caller, as the function spells it."""
        if paths := self._paths.get(name):
            below = [path for path in paths if path.startswith(f"{caller}.")] or paths
            return max(below, key=lambda path: _equal_parts_at_end(path, source))
        path = source.removeprefix(f"{_EXPORT_ROOT}.")
        return path if path in self._known else None


def _branches(graph: torch.fx.GraphModule, node: torch.fx.Node) -> Iterator[torch.fx.GraphModule]:
    for argument in node.all_input_nodes:
        if argument.op == "get_attr":
            value = getattr(graph, str(argument.target), None)
            if isinstance(value, torch.fx.GraphModule):
                yield value


def _whole_stacks(graph: torch.fx.GraphModule) -> Iterator[Stack]:
    for module in graph.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in module.graph.nodes:
                if _is_whole(stack := node.meta.get("nn_module_stack")):
                    yield stack


def _is_whole(stack: Stack | None) -> bool:
    """Whether a stack begins at the model itself."""
    return bool(stack and next(iter(stack.values()))[0] == "")


def _is_recorded(node: torch.fx.Node) -> bool:
    """Whether the compiler told of the node; an empty stack says then that its function did the work itself."""
    return bool(node.meta.get("nn_module_stack")) or "source_fn_stack" in node.meta


def _equal_parts_at_end(path: str, source: str) -> int:
    pairs = zip(reversed(path.split(".")), reversed(source.split(".")), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _split_call(key: str) -> tuple[str, int]:
    name, _, number = key.rpartition("@")
    return (name, int(number)) if name and number.isdecimal() else (key, 0)
