"""`HierarchyExporter`: exports a live model to a tagged ONNX file, natively or through torch's own exporters."""

import tempfile
import time
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import torch

from modelexport import inputs as model_inputs
from modelexport._native import LIVE_EVIDENCE
from modelexport.capture import CAPTURE_LOCK, captured, shapes
from modelexport.exporting import export
from modelexport.standard_export import Exporter, export_to_onnx
from modelexport.tag_choices import NATIVE, TagChoices, tag
from modelexport.tracing import TracingHierarchyBuilder


class HierarchyExporter:
    """Exports models with one strategy and one policy for tags.

    Args:
        strategy: `native` lowers the captured program itself and knows the module of every node. The others export
            with `torch.onnx.export` and recover the modules: `htp` and `usage_based` from a trace of one forward pass,
            `enhanced_semantic` from names and such a trace, `fx_graph` from the captured program.
        torch_nn_exceptions: classes of `torch.nn` that appear in tags; replaces norms and Embedding.
        modules: which modules appear in tags: `model` (the default), `huggingface` or `all`.
        rules: a rules file, see docs/rules.md.
        embed: where tags are stored on nodes: `doc-string`, `metadata-props`, both (the default), or `none`.
        tag_format: `instance` (`/Model/Layer.0`, the default) or `class` (`/Model/Layer`).
        exporter: which of torch's exporters the strategies other than `native` use.
        force: tag the file even if the trace does not fit it; otherwise that raises `EvidenceMismatch`.
    """

    def __init__(
        self,
        strategy: str = NATIVE,
        torch_nn_exceptions: Iterable[str] | None = None,
        modules: str | None = None,
        rules: str | PathLike[str] | None = None,
        embed: str | Iterable[str] | None = None,
        tag_format: str | None = None,
        exporter: Exporter = "dynamo",
        force: bool = False,
    ):
        if strategy != NATIVE and strategy not in LIVE_EVIDENCE:
            raise ValueError(f"strategy: expected one of {', '.join([NATIVE, *LIVE_EVIDENCE])}, not {strategy!r}")
        self.strategy = strategy
        self.exporter: Exporter = exporter
        self.force = force
        self._choices = TagChoices.of(modules, torch_nn_exceptions, rules, embed, tag_format)

    def export(
        self,
        model: torch.nn.Module,
        inputs: Any,
        path: str | PathLike[str],
        *,
        overwrite: bool = True,
        progress: Callable[[str], None] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Writes `path` and its sidecar, and returns statistics.

        `inputs` is a tensor, a tuple of positional or a dict of keyword arguments. Other keyword arguments are
        passed to the exporter. `progress` is called with the name of each step when it starts: `trace`, `export`, `tag`, and
        `write` if that is a separate step.

        The result has the keys of the sidecar's `statistics`, and `strategy`, `path`, `files` and `seconds` (by step). With
        every strategy except `native` it also has `fit`: how well the evidence fitted the graph.
        """
        summary = self.summary(model, inputs, path, overwrite=overwrite, progress=progress, **kwargs)
        return {
            **summary["statistics"],
            "strategy": self.strategy,
            "path": str(path),
            "files": [file["path"] for file in summary["files"]],
            "seconds": summary["seconds"],
            **({"fit": summary["fit"]} if "fit" in summary else {}),
        }

    def summary(
        self,
        model: torch.nn.Module,
        inputs: Any,
        path: str | PathLike[str],
        *,
        overwrite: bool = True,
        progress: Callable[[str], None] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Exports like `export`, and returns what the command line prints with `--format json`."""
        target = Path(path)
        if not overwrite and target.exists():
            # Capturing may take minutes; the native part looks again.
            raise FileExistsError(17, "exists already; pass overwrite=True or choose another name", str(target))
        steps = Steps(progress or (lambda step: None))
        route = self._native if self.strategy == NATIVE else self._over_torch
        summary = route(model, inputs, target, steps, overwrite, kwargs)
        summary["seconds"] |= steps.finish()
        return summary

    def _native(self, model, inputs, target: Path, steps: "Steps", overwrite: bool, kwargs: dict) -> dict[str, Any]:
        args, call_kwargs = model_inputs.as_call(inputs)
        call_kwargs |= kwargs.pop("kwargs", None) or {}
        chosen = {name: value for name, value in vars(self._choices).items() if value is not None}
        return export(
            model, args, target, kwargs=call_kwargs, overwrite=overwrite, progress=steps.begin, **chosen, **kwargs
        ).summary

    def _over_torch(self, model, inputs, target: Path, steps: "Steps", overwrite: bool, kwargs: dict) -> dict[str, Any]:
        exporter = kwargs.pop("exporter", self.exporter)
        # Beside the target: the tagged file is then made of the exported one without a copy through memory.
        with tempfile.TemporaryDirectory(prefix=".modelexport-", dir=target.parent) as folder:
            steps.begin("trace")
            evidence = self._evidence(model, inputs, Path(folder), kwargs)
            steps.begin("export")
            exported = export_to_onnx(model, inputs, Path(folder, target.name), exporter, **kwargs)
            steps.begin("tag")
            return tag(exported, target, evidence, self.strategy, self._choices, overwrite, self.force)

    def _evidence(self, model, inputs, folder: Path, kwargs: dict) -> Path:
        if LIVE_EVIDENCE[self.strategy] == "trace":
            path = folder / "trace.json"
            TracingHierarchyBuilder().trace_model_execution(model, inputs).to_json(path)
            return path
        path = folder / "program.pt2"
        args, call_kwargs = model_inputs.as_call(inputs)
        call_kwargs |= kwargs.get("kwargs") or {}
        dynamic_shapes = kwargs.get("dynamic_shapes")
        if axes := kwargs.get("dynamic_axes"):
            arguments = shapes.bound_arguments(model, args, call_kwargs)
            dynamic_shapes = shapes.from_dynamic_axes(axes, arguments, kwargs.get("input_names") or ())
        dynamic_shapes, _ = shapes.split(model, args, call_kwargs, dynamic_shapes)
        with CAPTURE_LOCK:
            torch.export.save(captured(model, args, call_kwargs, dynamic_shapes), path)
        return path


class Steps:
    """Which step runs, and how long each took."""

    def __init__(self, report: Callable[[str], None]):
        self._report = report
        self._began: dict[str, float] = {}
        self._start = time.perf_counter()

    def begin(self, step: str) -> None:
        self._began[step] = time.perf_counter()
        self._report(step)

    def finish(self) -> dict[str, float]:
        end = time.perf_counter()
        ends = [*list(self._began.values())[1:], end]
        seconds = {step: until - began for (step, began), until in zip(self._began.items(), ends, strict=True)}
        return {**seconds, "total": end - self._start}
