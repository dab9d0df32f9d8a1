"""Every module that ran, cut out of its model: fed with what PyTorch's module received, it gives what that returned."""

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import _common
import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import support
import zoo_small

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
MODELS = [
    "attentive_translator",
    "clip",
    "gpt2",
    "mobilenet_v3",
    "qwen3_moe",
    "swin_transformer",
    "t5",
    "vision_transformer",
    "wav2vec2",
    "whisper_encoder",
]
# Why a module with nodes may be rejected, and the entry of the node that records the reason.
REASONS = {
    r"its node `(.+)` was fused with nodes of `.+`": "modelexport.fused",
    r"boundary is inside the node `(.+)` \(\w+\), which was merged with nodes of `.+`": "modelexport.shared",
}
NOTHING_TO_CUT = r"ran but has no nodes|did not run|has no node of its own: it was fused into the node `.+` of"


@pytest.mark.parametrize("name", MODELS)
def test_every_executed_module_gives_what_pytorch_gives(name, tmp_path):
    torch.manual_seed(_common.SEED)
    model, args, kwargs = ARCHITECTURES[name].build()
    model.eval()
    if hasattr(model, "set_attn_implementation"):
        # The fast implementation leaves out a mask that is only causal, but not while it is captured.
        model.set_attn_implementation("eager")
    torch.export.save(_common.capture(_common.Case(model, args, kwargs)), tmp_path / "model.pt2")
    whole = tmp_path / "model.onnx"
    support.modelexport("export", tmp_path / "model.pt2", "-o", whole)
    parts, refused = cut_all(whole)
    crossing = {value["value"] for part in parts for value in part.manifest["inputs"]}
    values = all_values(whole, [copied(tensor) for tensor in _common.tensors((args, kwargs))], crossing)
    calls = calls_of(model, args, kwargs)
    problems = [problem for part in parts for problem in part.problems(calls[part.module][part.call], values)]
    problems += [problem for refusal in refused for problem in refusal.problems(whole)]
    assert not problems, "\n".join(problems)
    assert len(parts) >= 8


def counterpart(value: np.ndarray, received: list[np.ndarray]) -> np.ndarray | None:
    """The tensor that PyTorch's module received for a value of the whole model: one of equal numbers, or the only one of
    its kind (rows that were sorted by equal keys may come in another order)."""
    equal = [tensor for tensor in received if is_close(tensor, value)]
    alike = [tensor for tensor in received if (tensor.shape, tensor.dtype) == (value.shape, value.dtype)]
    return equal[0] if equal else alike[0] if len(alike) == 1 else None


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
            received = counterpart(values[value["value"]], pytorch.received)
            if received is None:
                return [f"{self.module} call {self.call}: PyTorch's module did not receive {value['name']}"]
            feeds[value["name"]] = received
        results = session(self.path).run(None, feeds)
        return [
            f"{self.module} call {self.call}: PyTorch's module did not return {value['name']}"
            for value, result in zip(self.manifest["outputs"], results, strict=True)
            if not any(is_close(result, tensor) for tensor in pytorch.returned)
        ]


@dataclass(frozen=True)
class Refusal:
    """A call that cannot be cut out, and what was said."""

    module: str
    has_nodes: bool
    said: str

    def problems(self, whole: Path) -> list[str]:
        """What is wrong with the reason, in words: the node that is named must be one that several modules share."""
        if not self.has_nodes:
            return [] if re.search(NOTHING_TO_CUT, self.said) else [f"{self.module}: {self.said}"]
        for reason, key in REASONS.items():
            if found := re.search(reason, self.said):
                node = next(node for node in onnx.load(whole).graph.node if node.name == found[1])
                entries = {entry.key: entry.value for entry in node.metadata_props}
                sharing = {path.split("@")[0] for path in json.loads(entries.get(key, "[]"))}
                is_part = any(f"{path}.".startswith(f"{self.module}.") for path in sharing)
                return [] if len(sharing) > 1 and is_part else [f"{self.module}: {node.name} is shared by {sharing}"]
        return [f"{self.module}: {self.said}"]


def cut_all(whole: Path) -> tuple[list[Part], list[Refusal]]:
    """Every module that ran, each of its calls on its own; and those that cannot be cut out."""
    sidecar = json.loads(whole.with_name(f"{whole.stem}_hierarchy.json").read_text())
    parts, refused = [], []
    for module in sidecar["modules"]:
        for call in range(module["calls"] if module["path"] else 0):
            target = whole.with_name(f"part_{len(parts)}.onnx")
            chosen = ["--call", str(call)] if module["calls"] > 1 and module["nodes"]["total"] else []
            said = support.run("extract", whole, module["path"], "-o", target, "--format", "json", *chosen)
            if said.returncode == 0:
                parts.append(Part(module["path"], call, target, json.loads(said.stdout)["manifest"]))
            else:
                assert said.returncode == 2, said.stderr
                assert not target.exists(), said.stderr
                refused.append(Refusal(module["path"], module["nodes"]["total"] > 0, said.stderr))
    return parts, refused
