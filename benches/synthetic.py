"""Captures of any number of nodes: the JSON of a small capture with its nodes repeated."""

import copy
import json
import zipfile
from pathlib import Path

import torch


class Chain(torch.nn.Module):
    def __init__(self, modules: int):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Tanh() for _ in range(modules))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def write(nodes: int, target: Path, modules: int = 32) -> int:
    """A chain of `nodes` operators, in modules of equal numbers of them. Returns the bytes of the JSON."""
    small = target.with_suffix(".small.pt2")
    torch.export.save(torch.export.export(Chain(modules), (torch.zeros(4),)), small)
    with zipfile.ZipFile(small) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        length = 0
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename.endswith("models/model.json"):
                data = repeated(json.loads(data), nodes)
                length = len(data)
            archive.writestr(entry.filename.replace(small.stem, target.stem, 1), data)
    small.unlink()
    return length


def repeated(program: dict, count: int) -> bytes:
    graph = program["graph_module"]["graph"]
    templates = graph["nodes"]
    share = max(1, count // len(templates))
    values = graph["tensor_values"]
    meta = values[templates[0]["outputs"][0]["as_tensor"]["name"]]
    first_input = templates[0]["inputs"][0]["arg"]["as_tensor"]["name"]
    names = [first_input] + [f"v{i}" for i in range(count)]
    nodes = []
    for i in range(count):
        template = templates[min(i // share, len(templates) - 1)]
        node = {**template, "metadata": {k: v for k, v in template["metadata"].items() if k != "stack_trace"}}
        node["inputs"] = [{**template["inputs"][0], "arg": {"as_tensor": {"name": names[i]}}}]
        node["outputs"] = [{"as_tensor": {"name": names[i + 1]}}]
        if "name" in node:
            node["name"] = names[i + 1]
        nodes.append(node)
    graph["nodes"] = nodes
    graph["tensor_values"] = {first_input: values[first_input]} | {name: meta for name in names[1:]}
    last = graph["outputs"][0]["as_tensor"]["name"]
    graph["outputs"] = [{"as_tensor": {"name": names[-1]}}]
    signature = program["graph_module"]["signature"]
    text = json.dumps(copy.copy(signature)).replace(json.dumps(last), json.dumps(names[-1]))
    program["graph_module"]["signature"] = json.loads(text)
    return json.dumps(program).encode()
