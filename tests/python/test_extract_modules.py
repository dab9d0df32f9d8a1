"""Every module that ran, cut out of its model: fed with what PyTorch's module received, it gives what that returned."""

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import support
import torch
import zoo_small

import _common

# Cut values are computed by the same kernels in the same order, but runtimes fuse differently.
CLOSE = 1e-3


@dataclass(frozen=True)
class ModuleCall:
    """What a module received and returned."""

    received: list[np.ndarray]
    returned: list[np.ndarray]


def calls_of(model: torch.nn.Module, args: tuple, kwargs: dict) -> dict[str, list[ModuleCall]]:
    """The calls of each module in one forward pass, by path."""
    calls: dict[str, list[ModuleCall]] = defaultdict(list)

    def before(path: str):
        # Copied before the call: a module may change its inputs in place.
        def record(_module, args, kwargs):
            received = [copied(tensor) for tensor in _common.tensors((args, kwargs))]
            calls[path].append(ModuleCall(received, []))

        return record

    def after(path: str):
        def record(_module, _args, result):
            running = next(call for call in reversed(calls[path]) if not call.returned)
            running.returned.extend(copied(tensor) for tensor in _common.tensors(result))

        return record

    hooks = []
    for path, module in model.named_modules():
        hooks.append(module.register_forward_pre_hook(before(path), with_kwargs=True))
        hooks.append(module.register_forward_hook(after(path)))
    with torch.no_grad():
        model(*args, **kwargs)
    for handle in hooks:
        handle.remove()
    return calls


def copied(tensor: torch.Tensor) -> np.ndarray:
    return _common.to_numpy(tensor.detach().clone())


def session(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def is_close(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
        return False
    if a.dtype.kind in "biu":
        return np.array_equal(a, b)
    both = np.isfinite(a) & np.isfinite(b)
    scale = max(float(np.abs(b[both]).max()) if both.any() else 0.0, 1e-3)
    same = np.isclose(np.where(both, a, 0), np.where(both, b, 0), rtol=0, atol=CLOSE * scale)
    return bool(same.all()) and np.array_equal(np.isfinite(a), np.isfinite(b))


def all_values(model_path: Path, feeds: list[np.ndarray], names: set[str]) -> dict[str, np.ndarray]:
    """The values of the whole model under the names that it gives them."""
    model = onnx.load(model_path)
    known = {output.name for output in model.graph.output}
    inputs = [value.name for value in model.graph.input]
    wanted = sorted(names - known - set(inputs))
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted)
    path = model_path.with_name("all_values.onnx")
    onnx.save(model, path)
    run = session(path)
    given = dict(zip(inputs, feeds, strict=True))
    outputs = [output.name for output in run.get_outputs()]
    return given | dict(zip(outputs, run.run(outputs, given), strict=True))


ARCHITECTURES = {entry.name: entry for entry in zoo_small.ARCHITECTURES}
# Chosen because each part can be compared: CLIP's text layers, for one, receive a mask in the capture that they do not
# receive in a plain forward pass.
FIVE = ["t5", "wav2vec2", "whisper_encoder", "vision_transformer", "attentive_translator"]


@pytest.mark.parametrize("name", FIVE)
def test_every_executed_module_gives_what_pytorch_gives(name, tmp_path):
    torch.manual_seed(_common.SEED)
    model, args, kwargs = ARCHITECTURES[name].build()
    model.eval()
    torch.export.save(_common.capture(_common.Case(model, args, kwargs)), tmp_path / "model.pt2")
    whole = tmp_path / "model.onnx"
    support.modelexport("export", tmp_path / "model.pt2", "-o", whole)
    parts = cut_all(whole)
    crossing = {value["value"] for part in parts for value in part.manifest["inputs"]}
    values = all_values(whole, [copied(tensor) for tensor in _common.tensors((args, kwargs))], crossing)
    calls = calls_of(model, args, kwargs)
    problems = [problem for part in parts for problem in part.problems(calls[part.module][part.call], values)]
    assert not problems, "\n".join(problems)
    assert len(parts) >= 8


@dataclass(frozen=True)
class Part:
    """One call of a module as a model of its own."""

    module: str
    call: int
    path: Path
    manifest: dict

    def problems(self, pytorch: ModuleCall, values: dict[str, np.ndarray]) -> list[str]:
        """What is not as in PyTorch, in words. `values` tell which of the module's inputs a boundary value is."""
        feeds = {}
        for value in self.manifest["inputs"]:
            wanted = values[value["value"]]
            received = next((tensor for tensor in pytorch.received if is_close(tensor, wanted)), None)
            if received is None:
                return [f"{self.module} call {self.call}: PyTorch's module did not receive {value['name']}"]
            feeds[value["name"]] = received
        results = session(self.path).run(None, feeds)
        return [
            f"{self.module} call {self.call}: PyTorch's module did not return {value['name']}"
            for value, result in zip(self.manifest["outputs"], results, strict=True)
            if not any(is_close(result, tensor) for tensor in pytorch.returned)
        ]


def cut_all(whole: Path) -> list[Part]:
    """Every module that left nodes, each of its calls on its own."""
    sidecar = json.loads(whole.with_name(f"{whole.stem}_hierarchy.json").read_text())
    parts = []
    for module in sidecar["modules"]:
        for call in range(module["calls"] if module["nodes"]["total"] and module["path"] else 0):
            target = whole.with_name(f"part_{len(parts)}.onnx")
            arguments = ["extract", whole, module["path"], "-o", target, "--format", "json"]
            said = support.modelexport(*arguments, *(["--call", str(call)] if module["calls"] > 1 else []))
            parts.append(Part(module["path"], call, target, json.loads(said.stdout)["manifest"]))
    return parts
