"""An exported ONNX file under test: accepted, equal in numbers, tagged on every node."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import onnx
import onnx.reference
import onnxruntime
import torch

import support


@dataclass(frozen=True)
class Exported:
    path: Path

    @classmethod
    def export(cls, program: Path, target: Path, *options: str) -> "Exported":
        support.modelexport("export", program, "-o", target, *options)
        return cls(target)

    @cached_property
    def model(self) -> onnx.ModelProto:
        return onnx.load(self.path)

    @cached_property
    def sidecar(self) -> dict:
        return json.loads(self.path.with_name(f"{self.path.stem}_hierarchy.json").read_text())

    @property
    def opset(self) -> int:
        return next(entry.version for entry in self.model.opset_import if entry.domain == "")

    def assert_accepted(self) -> None:
        onnx.checker.check_model(self.path, full_check=True)

    def run(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """The outputs of onnxruntime, or of onnx's own interpreter where the former has no kernels for a type."""
        feeds = dict(zip([value.name for value in self.model.graph.input], inputs, strict=True))
        if onnx.TensorProto.BFLOAT16 in set(element_types(self.model.graph)):
            outputs = onnx.reference.ReferenceEvaluator(self.model).run(None, feeds)
            return [np.asarray(output) for output in outputs]
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(self.path, options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)

    def assert_tagged(self) -> None:
        """Every node, those of subgraphs too, has a tag that the sidecar knows; those of the main graph have it from the
        program itself."""
        outermost = {node.name for node in self.model.graph.node}
        listed = {node["name"]: node for node in self.sidecar["nodes"]}
        modules = {module["path"]: module for module in self.sidecar["modules"]}
        nodes = list(all_nodes(self.model.graph))
        assert [node.name for node in nodes] == list(dict.fromkeys(node.name for node in nodes)), "names repeat"
        assert set(listed) == {node.name for node in nodes}
        for node in nodes:
            said = json.loads(node.doc_string)
            entry = listed[node.name]
            inferred = set() if node.name in outermost else {"parameter", "propagated"}
            assert said["hierarchy_method"] == entry["method"] in {"direct"} | inferred, node.name
            assert said["hierarchy_path"] == entry["path"], node.name
            assert said["hierarchy_path"] in said["hierarchy_tags"] == entry["tags"], node.name
            assert said["hierarchy_count"] == len(said["hierarchy_tags"]), node.name
            assert is_tag(said["hierarchy_path"]), node.name
            assert entry["module"] in modules, f"{node.name}: unknown module {entry['module']!r}"

    def assert_readers(self, readers: dict[str, set[str]]) -> None:
        """A node that reads a parameter belongs to a module whose code read that parameter in PyTorch."""
        module_of = {node["name"]: node["module"] for node in self.sidecar["nodes"]}
        wrong = [
            f"{node.name}: reads {value} as {module_of[node.name]!r}, PyTorch as {sorted(readers[value])}"
            for node in all_nodes(self.model.graph)
            for value in node.input
            if value in readers and module_of[node.name] not in readers[value]
        ]
        assert not wrong, "\n".join(wrong)


def is_tag(text: str) -> bool:
    return text.startswith("/") and all(text[1:].split("/")) and text.isprintable()


def all_nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from all_nodes(inner)


def element_types(graph: onnx.GraphProto) -> Iterator[int]:
    """Element types of weights, inputs, outputs and casts."""
    yield from (tensor.data_type for tensor in graph.initializer)
    yield from (value.type.tensor_type.elem_type for value in [*graph.input, *graph.output])
    for node in all_nodes(graph):
        yield from (attribute.i for attribute in node.attribute if node.op_type == "Cast" and attribute.name == "to")


def readers(program: torch.export.ExportedProgram) -> dict[str, set[str]]:
    """For each parameter and buffer the paths of the modules whose code reads it. What is handed to a branch is read by
    its owner there."""
    signature = program.graph_signature
    owned = signature.inputs_to_parameters | signature.inputs_to_buffers
    found: dict[str, set[str]] = {}
    for node in program.graph.nodes:
        if stack := node.meta.get("nn_module_stack"):
            # `encoder.layer.0@1` is the second call of `encoder.layer.0`.
            path = re.sub(r"@\d+", "", list(stack.values())[-1][0])
            for used in node.all_input_nodes:
                if used.name in owned:
                    found.setdefault(owned[used.name], set()).add(path)
                    if isinstance(node.target, torch._ops.HigherOrderOperator):
                        found[owned[used.name]].add(owned[used.name].rpartition(".")[0])
    return found
