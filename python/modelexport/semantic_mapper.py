"""`SemanticMapper`: finds the modules of the nodes of an ONNX file without changing the file."""

import json
import tempfile
from collections.abc import Iterable, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from modelexport._native import LIVE_EVIDENCE
from modelexport.tag_choices import TagChoices, tag


class SemanticMapper:
    """Maps the nodes of an ONNX file to modules by evidence.

    Args:
        onnx_path: the ONNX file. It is not changed.
        evidence: the result of `TracingHierarchyBuilder`, or the path of a trace (`.json`), a captured program (`.pt2`), a
            sidecar or a tagged ONNX file.
        strategy: `htp`, `fx_graph`, `enhanced_semantic` or `usage_based`; None uses the one that places the most nodes.
        force: map the nodes with low confidence even if the evidence is of another model. Without it the first use
            raises `modelexport.EvidenceMismatch`.
        modules, torch_nn_exceptions, rules, tag_format: what shows in tags, as `modelexport.export` takes them.
    """

    def __init__(
        self,
        onnx_path: str | PathLike[str],
        evidence: Mapping[str, Any] | str | PathLike[str],
        strategy: str | None = "htp",
        *,
        force: bool = False,
        modules: str | None = None,
        torch_nn_exceptions: Iterable[str] | None = None,
        rules: str | PathLike[str] | None = None,
        tag_format: str | None = None,
    ):
        if strategy is not None and strategy not in LIVE_EVIDENCE:
            raise ValueError(f"strategy: expected one of {', '.join(LIVE_EVIDENCE)}, not {strategy!r}")
        self.onnx_path = Path(onnx_path)
        self.strategy = strategy
        self._evidence = evidence
        self._force = force
        self._choices = TagChoices.of(modules, torch_nn_exceptions, rules, "none", tag_format)

    def map_all_nodes(self) -> dict[str, dict[str, Any]]:
        """For each node by name: `path` (its tag), `tags`, `module`, `method` and `confidence`."""
        wanted = ("path", "tags", "module", "method", "confidence")
        return {node["name"]: {key: node[key] for key in wanted} for node in self.hierarchy["nodes"]}

    def module_tags(self) -> dict[str, str]:
        """The tag of each module by its path."""
        return {module["path"]: module["tag"] for module in self.hierarchy["modules"]}

    @property
    def fit(self) -> dict[str, Any]:
        """How well the evidence fits the file: `score`, `threshold`, and what they were measured from."""
        return self.hierarchy["statistics"]["fit"]

    @cached_property
    def hierarchy(self) -> dict[str, Any]:
        """The complete result in the form of a sidecar (docs/sidecar.schema.json)."""
        with tempfile.TemporaryDirectory(prefix="modelexport-") as folder:
            evidence = self._evidence
            if isinstance(evidence, Mapping):
                evidence = Path(folder, "trace.json")
                evidence.write_text(json.dumps(self._evidence), encoding="utf-8")
            target = Path(folder, "mapped.onnx")
            tag(self.onnx_path, target, Path(evidence), self.strategy, self._choices, False, self._force)
            return json.loads(target.with_name("mapped_hierarchy.json").read_bytes())
