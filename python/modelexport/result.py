"""What an export gives back."""

import html
import json
from functools import cached_property
from pathlib import Path
from typing import Any

from modelexport import _native


class ExportResult:
    """An exported model: its files, its modules and nodes, and how they belong together."""

    def __init__(self, summary: bytes, sidecar: bytes, seconds: dict[str, float]):
        self._sidecar = sidecar
        self.summary: dict[str, Any] = json.loads(summary)
        """Files, weights, statistics, diagnosis and seconds, as `modelexport export --format json` prints them."""
        self.summary["seconds"] = {**seconds, **self.summary["seconds"]}

    @property
    def path(self) -> Path:
        """The ONNX file."""
        return self.files[0]

    @property
    def files(self) -> list[Path]:
        """All that was written: the model, its data file where there is one, the sidecar."""
        return [Path(file["path"]) for file in self.summary["files"]]

    @cached_property
    def hierarchy(self) -> dict[str, Any]:
        """What the sidecar says, see docs/sidecar.schema.json."""
        return json.loads(self._sidecar)

    @property
    def modules(self) -> list[dict[str, Any]]:
        """Every `nn.Module`: path, class, tag, calls, parameters, number of nodes."""
        return self.hierarchy["modules"]

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """Every ONNX node: name, op_type, module, path (its tag), tags, method, confidence, source."""
        return self.hierarchy["nodes"]

    @property
    def statistics(self) -> dict[str, Any]:
        return self.summary["statistics"]

    @property
    def constant_outputs(self) -> list[dict[str, Any]]:
        """Outputs of the model that are the same in every run and none of the ONNX model: position, name, value."""
        return self.summary["constant_outputs"]

    @property
    def coverage(self) -> float:
        """The share of nodes that have a module, from 0 to 1."""
        return self.statistics["coverage"]

    @property
    def seconds(self) -> dict[str, float]:
        """How long each step took."""
        return self.summary["seconds"]

    def tree(self, depth: int | None = None) -> str:
        """The module tree as text, as `modelexport tree` prints it."""
        arguments = ["modelexport", "tree", str(self.path)]
        if depth is not None:
            arguments += ["--depth", str(depth)]
        _, text, _ = _native.run_tool(arguments)
        return text.decode()

    @property
    def model_proto(self) -> Any:
        """The file as an `onnx.ModelProto`, read anew each time. Needs the package onnx."""
        import onnx

        return onnx.load(str(self.path))

    def __repr__(self) -> str:
        statistics = self.statistics
        return (
            f"ExportResult({str(self.path)!r}, {statistics['nodes']} nodes, {statistics['executed_modules']} of "
            f"{statistics['modules']} modules executed, coverage {self.coverage:.1%})"
        )

    def _repr_html_(self) -> str:
        """The module tree to open and close, for notebooks."""
        children: dict[str | None, list[dict[str, Any]]] = {}
        for module in self.modules:
            children.setdefault(module["parent"], []).append(module)
        return f"<div><code>{html.escape(repr(self))}</code>{_branch(children.get(None, []), children, is_open=True)}</div>"


def _branch(modules: list[dict[str, Any]], children: dict, is_open: bool = False) -> str:
    items = []
    for module in modules:
        name = html.escape(module["path"].rpartition(".")[2] or "(root)")
        kind = html.escape(module["class"].rpartition(".")[2])
        title = html.escape(module["tag"], quote=True)
        label = f'<span title="{title}">{name} <b>{kind}</b> {module["nodes"]["total"]} nodes</span>'
        inner = children.get(module["path"], [])
        if inner:
            opened = " open" if is_open else ""
            items.append(f"<li><details{opened}><summary>{label}</summary>{_branch(inner, children)}</details></li>")
        else:
            items.append(f"<li>{label}</li>")
    return f"<ul>{''.join(items)}</ul>"
