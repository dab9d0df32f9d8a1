"""Writes `crates/lower/src/decompositions.txt`: what torch makes of operators that have no row.

    PYTHONPATH=python .venv/bin/python tests/python/decompositions.py

torch's own samples of calls tell. A line is an operator, and those that its decompositions end in and that have no row.
"""

import logging
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch._ops import OpOverload
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

from modelexport import _native
from modelexport.capture.decompose import NotDecomposed, _Decomposer, _detect_fake_mode_from_gm

LIST = Path(__file__).parents[2] / "crates/lower/src/decompositions.txt"
OPSET = 20


class Call(torch.nn.Module):
    """Calls an operator with the tensors that it is given, and with the other arguments of a sample."""

    def __init__(self, op: Any, arguments: Any):
        super().__init__()
        self.op = op
        self.leaves, self.spec = pytree.tree_flatten(arguments)

    def tensors(self) -> tuple[torch.Tensor, ...]:
        return tuple(leaf.clone() for leaf in self.leaves if isinstance(leaf, torch.Tensor))

    def forward(self, *tensors: torch.Tensor) -> Any:
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self.leaves]
        args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        return self.op(*args, **kwargs)


def targets(program: torch.export.ExportedProgram) -> set[str]:
    """The operators of a program and of the graphs inside it."""
    graphs = [module.graph for module in program.graph_module.modules() if isinstance(module, torch.fx.GraphModule)]
    return {str(node.target) for graph in graphs for node in graph.nodes if isinstance(node.target, OpOverload)}


def programs(names: set[str] | None, most: int) -> Iterator[torch.export.ExportedProgram]:
    """Captured calls, at most so many of each operator that torch has samples of; of those with a name if given."""
    for entry in op_db:
        if names is not None and not names & {entry.name.replace(".", "_"), entry.name.split(".")[-1], entry.aten_name}:
            continue
        dtype = torch.float32 if entry.supports_dtype(torch.float32, "cpu") else torch.int64
        try:
            samples = list(entry.sample_inputs("cpu", dtype, requires_grad=False))[:most]
        except Exception:  # noqa: BLE001 (samples for other devices and types)
            continue
        for sample in samples:
            call = Call(entry.op, ((sample.input, *sample.args), sample.kwargs))
            try:
                yield torch.export.export(call, call.tensors())
            except Exception:  # noqa: BLE001 (what cannot be captured is in no archive)
                continue


def missing_calls(names: set[str] | None, most: int) -> Iterator[tuple[torch.fx.Node, Any]]:
    """Nodes without a row, and the mode that their tensors are of."""
    for program in programs(names, most):
        mode = _detect_fake_mode_from_gm(program.graph_module)
        missing = _native.missing_operators(sorted(targets(program)), OPSET, None)
        yield from ((node, mode) for node in program.graph.nodes if str(node.target) in missing)


def ends(node: torch.fx.Node, mode: Any) -> set[str]:
    """The operators without a row that torch's decomposition of a call ends in; itself if there is none."""
    found: set[str] = set()

    def missing(targets: list[str]) -> list[str]:
        return [target for target in _native.missing_operators(targets, OPSET, None) if target not in found]

    while True:
        try:
            with torch.no_grad():
                _Decomposer(missing, mode)._expanded(node, [node.target])
            return found
        except NotDecomposed as reason:
            if reason.end is None:
                return {str(node.target)}
            found.add(reason.end)


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    lines: dict[str, set[str]] = {}
    for node, mode in missing_calls(None, most=12):
        lines.setdefault(str(node.target), set()).update(ends(node, mode))
    LIST.write_text("".join(f"{' '.join([target, *sorted(found)])}\n" for target, found in sorted(lines.items())))
    print(f"{len(lines)} operators, {sum(not found for found in lines.values())} decomposed", file=sys.stderr)


if __name__ == "__main__":
    main()
