"""Graphs that torch's exporters wrote: what torch says about their nodes, the same graphs without it, and scores."""

import ast
import copy
import json
import re
import shlex
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

NAME_SCOPES = "pkg.torch.onnx.name_scopes"
NO_STACK = "_empty_nn_module_stack_from_metadata_hook"


def subgraphs_of(node):
    for attribute in node.attribute:
        yield from ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs)


def nodes_of(graph):
    """All nodes, those of subgraphs after the node that holds them: the order in which modelexport counts."""
    for node in graph.node:
        yield node
        for inner in subgraphs_of(node):
            yield from nodes_of(inner)


# ---- truth


def dynamo_truth(model):
    """The module path of every node; `None` where torch does not say."""
    truth = []
    for node in nodes_of(model.graph):
        entries = {entry.key: entry.value for entry in node.metadata_props}
        scopes = ast.literal_eval(entries[NAME_SCOPES]) if NAME_SCOPES in entries else []
        known = len(scopes) > 1 and (scopes[0] == "" or scopes[0] == NO_STACK)
        path = scopes[-2] if known else None
        truth.append("" if path == NO_STACK else path and re.sub(r"@\d+", "", path))
    return truth


def unqualified(path):
    """What TorchScript calls a module: the end of its path from the last part that is no number."""
    parts = path.split(".")
    for i in range(len(parts) - 1, -1, -1):
        if not parts[i].isdigit():
            return ".".join(parts[i:])
    return path


def torchscript_truth(model, modules):
    """The module path of every node whose name has a scope; `modules` are the paths of all modules."""
    by_name = {}
    for path in modules:
        by_name.setdefault(unqualified(path), []).append(path)

    def below(above, name):
        found = [p for p in by_name.get(name, []) if not above or p.startswith(above + ".")]
        least = min((p.count(".") for p in found), default=0)
        return [p for p in found if p.count(".") == least]

    def resolve(scope):
        at = ""
        for part in scope:
            found = below(at, part) or below(at, re.sub(r"_\d+$", "", part)) or by_name.get(part, [])
            if len(found) != 1:
                return None
            at = found[0]
        return at

    scopes = [n.name.split("/")[1:-1] if n.name.startswith("/") else None for n in nodes_of(model.graph)]
    return [None if scope is None else resolve(scope) for scope in scopes]


# ---- what is left of a graph


def blind(model):
    """A copy without metadata and without the names of nodes and of values inside the graph."""
    model = copy.deepcopy(model)
    model.ClearField("doc_string")
    model.graph.ClearField("doc_string")
    model.graph.name = "graph"
    del model.metadata_props[:]
    del model.graph.metadata_props[:]
    kept = {v.name for v in list(model.graph.input) + list(model.graph.output) + list(model.graph.initializer)}
    names = {}

    def rename(name):
        return name if name in kept or not name else names.setdefault(name, f"v{len(names)}")

    def strip(graph):
        for node in graph.node:
            node.ClearField("name")
            node.ClearField("doc_string")
            del node.metadata_props[:]
            node.input[:] = [rename(name) for name in node.input]
            node.output[:] = [rename(name) for name in node.output]
            for inner in subgraphs_of(node):
                inner.name = "graph"
                del inner.metadata_props[:]
                for value in list(inner.input) + list(inner.output) + list(inner.initializer):
                    value.name = rename(value.name)
                strip(inner)
        for value in list(graph.input) + list(graph.output) + list(graph.initializer) + list(graph.value_info):
            value.ClearField("doc_string")
            del value.metadata_props[:]
        for value in graph.value_info:
            value.name = rename(value.name)

    strip(model.graph)
    return model


def without_metadata(model):
    """A copy without torch's metadata; names stay."""
    model = copy.deepcopy(model)
    for node in nodes_of(model.graph):
        del node.metadata_props[:]
    return model


# ---- tags and their scores


def tag(cli, source, *options):
    """Tags a file and returns its sidecar."""
    output, sidecar = source.with_name("tagged.onnx"), source.with_name("tagged_hierarchy.json")
    for earlier in (output, sidecar):
        earlier.unlink(missing_ok=True)
    command = [*shlex.split(str(cli)), "tag", str(source), "-o", str(output), "-q", *map(str, options)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr.strip()[-400:])
    return json.loads(sidecar.read_text())


@dataclass
class Score:
    """Numbers of nodes: all, those whose module torch tells, those with its tag, with its or one above, with a tag at
    all, and those with the tag of a sibling. The others are what is wrong: operator, tag, expected tag, method."""

    nodes: int
    known: int
    exact: int
    in_chain: int
    covered: int
    strays: int
    wrong: Counter

    def share(self, what):
        return getattr(self, what) / max(self.nodes if what == "covered" else self.known, 1)


def score(sidecar, truth, aliases=None):
    """Compares the tags in a sidecar with `truth`, the paths of modules by node.

    A module that is in the model under several names is the same under each: `aliases` has the others by the first.
    """
    modules = {module["path"]: module for module in sidecar["modules"]}
    groups = [(first, *others) for first, others in (aliases or {}).items()]
    names_of = {name: group for group in groups for name in group}
    result = Score(len(sidecar["nodes"]), 0, 0, 0, 0, 0, Counter())
    for node, path in zip(sidecar["nodes"], truth, strict=True):
        found = node["path"]
        result.covered += found.startswith("/")
        names = [name for name in names_of.get(path, (path,)) if name in modules]
        if path is None or not names:
            continue
        tags = [modules[name]["tag"] for name in names]
        expected = found if found in tags else tags[0]
        result.known += 1
        result.exact += found == expected
        result.in_chain += expected == found or expected.startswith(found + "/")
        if found != expected:
            is_stray = all(are_siblings(modules, node["module"], name) for name in names)
            result.strays += is_stray
            result.wrong[node["op_type"], found, expected, node["method"], "SIBLING" if is_stray else ""] += 1
    return result


def are_siblings(modules, one, other):
    """Whether two paths part at modules of one class under one parent: `layer.0.a` and `layer.1.b`."""
    mine, theirs = one.split("."), other.split(".")
    for i, (a, b) in enumerate(zip(mine, theirs, strict=False)):
        if a != b:
            ends = [modules.get(".".join(path[: i + 1]), {}).get("class") for path in (mine, theirs)]
            return ends[0] == ends[1] is not None
    return False


def write(model, target):
    Path(target).write_bytes(model.SerializeToString())
