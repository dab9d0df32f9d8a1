"""Writes `crates/lower/tests/data/captured_calls.txt`: for each operator a call of it as PyTorch captures it.

    python tests/python/op_calls.py            # all operators, two minutes
    python tests/python/op_calls.py gelu topk  # only those whose target contains one of the words; the rest stays

A call is one line, which the snapshots of the operator files show next to the ONNX nodes that it becomes:

    aten.gelu.default(self: f32[3, 7], approximate='tanh') -> f32[3, 7]

It comes from the first case of the operator in `op_cases`, and a second one from its first case with dynamic sizes,
whose symbols are called `s0`, `s1`, … (`u0` for integers and `f0` for floats that only the data tells). Tensors that models keep as parameters
are marked `param`. Operators that take graphs have no such line.
"""

from __future__ import annotations

import math
import operator
import re
import sys
from pathlib import Path

import torch

import op_cases
import op_harness

FILE = Path(__file__).parents[2] / "crates/lower/tests/data/captured_calls.txt"
DTYPES = {
    torch.bool: "bool",
    torch.uint8: "u8",
    torch.int8: "i8",
    torch.uint16: "u16",
    torch.int16: "i16",
    torch.uint32: "u32",
    torch.int32: "i32",
    torch.uint64: "u64",
    torch.int64: "i64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float32: "f32",
    torch.float64: "f64",
    torch.complex32: "c32",
    torch.complex64: "c64",
    torch.complex128: "c128",
    torch.float8_e4m3fn: "f8e4m3fn",
    torch.float8_e5m2: "f8e5m2",
    torch.float8_e4m3fnuz: "f8e4m3fnuz",
    torch.float8_e5m2fnuz: "f8e5m2fnuz",
}
#: Arguments that are parameters or buffers in models.
PARAMETERS = {
    "weight",
    "bias",
    "running_mean",
    "running_var",
    "params",
    "w_ih",
    "w_hh",
    "b_ih",
    "b_hh",
    "qkv_weight",
    "qkv_bias",
    "proj_weight",
    "proj_bias",
}
#: Families whose operators are replaced by others before rows are looked up.
REWRITTEN = {"functionalize", "wrappers"}
SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


class Inexpressible(Exception):
    """The call cannot be written as one line."""


def value(item) -> str:
    """An argument that is not a tensor."""
    if item is None or isinstance(item, (bool, int)):
        return str(item)
    if isinstance(item, float):
        return repr(item) if math.isfinite(item) else str(item)
    if isinstance(item, complex):
        return f"{item.real!r}{item.imag:+}j"
    if isinstance(item, str):
        return "'" + item.replace("'", "`") + "'"
    if isinstance(item, torch.dtype):
        return DTYPES[item]
    if isinstance(item, (torch.memory_format, torch.layout)):
        return str(item).removeprefix("torch.")
    if isinstance(item, torch.device):
        return str(item)
    if isinstance(item, SYMBOLIC):
        return re.sub(r"\bz?(?:s|u|uf)\d+\b", r"<\g<0>>", str(item.node.expr))
    if isinstance(item, torch.fx.Node) and isinstance(item.meta.get("val"), (*SYMBOLIC, int, float, bool)):
        return value(item.meta["val"])
    if isinstance(item, (list, tuple)):
        return f"[{', '.join(value(part) for part in item)}]"
    raise Inexpressible(f"{type(item).__name__} {item}")


def tensor(meta) -> str:
    """`f32[2, s0]`; lists in brackets."""
    if meta is None:
        return "None"
    if isinstance(meta, torch.Tensor):
        return f"{DTYPES[meta.dtype]}[{', '.join(value(size) for size in meta.shape)}]"
    if isinstance(meta, (list, tuple)):
        return f"[{', '.join(tensor(part) for part in meta)}]"
    raise Inexpressible(str(meta))


def metas(item):
    """What is known of the tensors in an argument; `None` if it holds no tensors."""
    if isinstance(item, torch.fx.Node) and isinstance(item.meta.get("val"), torch.Tensor):
        return item.meta["val"]
    if isinstance(item, (list, tuple)) and any(metas(part) is not None for part in item):
        return [metas(part) for part in item]
    return None


def argument(name: str, item, earlier: dict[torch.fx.Node, str]) -> str:
    """`earlier`: the names of the tensors before it; a tensor that is given again is told by its first name."""
    if isinstance(item, torch.fx.Node) and item in earlier:
        return f"{name}: {earlier[item]}"
    found = metas(item)
    if found is None:
        return f"{name}={value(item)}" if name else value(item)
    if isinstance(item, torch.fx.Node):
        earlier[item] = name
    return f"{name}: {'param ' if name in PARAMETERS else ''}{tensor(found)}"


def result(meta) -> str:
    if meta is None:
        return "None"
    return tensor(meta) if isinstance(meta, (torch.Tensor, list)) else value(meta)


def results(node: torch.fx.Node) -> str:
    """What the node gives; of several results those that nothing reads are marked `unread`."""
    meta = node.meta.get("val")
    if meta is None:
        return "()"
    if not isinstance(meta, tuple):
        return result(meta)
    read = {user.args[1] for user in node.users if user.target is operator.getitem and user.users}
    return f"({', '.join(('' if i in read else 'unread ') + result(part) for i, part in enumerate(meta))})"


def text(node: torch.fx.Node) -> str:
    """One captured call. Symbols are numbered in the order in which they occur."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        parts = [argument("", item, {}) for item in node.args]
    else:
        names = [parameter.name for parameter in schema.arguments]
        given, earlier = dict(zip(names, node.args, strict=False)) | node.kwargs, {}
        parts = [argument(name, item, earlier) for name, item in given.items()]
    line = f"{op_harness.target_name(node.target)}({', '.join(parts)}) -> {results(node)}"
    order: dict[str, dict[str, str]] = {"s": {}, "u": {}, "f": {}}

    def rename(match):
        kind = "f" if "f" in match[1] else match[1].lstrip("z")[0]
        return order[kind].setdefault(match[1], f"{kind}{len(order[kind])}")

    return re.sub(r"<(\w+)>", rename, line)


def calls(case: op_cases.Case, program: torch.export.ExportedProgram) -> list[str]:
    """The calls of the case's operator in what PyTorch captured of it. An operator that models use only in place is
    shown as what it is lowered as."""
    nodes = [
        node
        for part in program.graph_module.modules()
        if isinstance(part, torch.fx.GraphModule)
        for node in part.graph.nodes
        if node.op == "call_function"
    ]
    exact = [text(node) for node in nodes if op_harness.target_name(node.target) == case.target]
    in_place = case.target.replace(".", "_.", 2).replace("_.", ".", 1)
    return exact or [
        text(node).replace(in_place, case.target, 1)
        for node in nodes
        if op_harness.target_name(node.target) == in_place
    ]


def first(cases) -> str | None:
    for case in cases:
        try:
            found = calls(case, op_harness.capture(case)[1])
        except Inexpressible as reason:
            print(f"{case.name}: {reason}", file=sys.stderr)
            continue
        except Exception as reason:  # noqa: BLE001 - the tests of the case tell
            print(f"{case.name}: {type(reason).__name__}: {reason}", file=sys.stderr)
            continue
        if found:
            return found[0]
    return None


def main(words: list[str]) -> None:
    by_target: dict[str, list[op_cases.Case]] = {}
    for case in op_cases.load_all():
        if case.family in REWRITTEN:
            continue
        by_target.setdefault(case.target, []).append(case)
    kept = FILE.read_text().splitlines() if words else []
    lines = [line for line in kept if not any(word in line.split("(")[0] for word in words)]
    for target, cases in by_target.items():
        if words and not any(word in target for word in words):
            continue
        found = [first(case for case in cases if not case.dynamic), first(case for case in cases if case.dynamic)]
        lines += dict.fromkeys(line for line in found if line)
    # A stable sort: the call with dynamic sizes stays behind the other.
    lines.sort(key=lambda line: line.split("(")[0])
    FILE.write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main(sys.argv[1:])
