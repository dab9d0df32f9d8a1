"""Captures operator cases, exports them through the command line in one batch, runs them and compares."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch.utils import _pytree

from modelexport import dynamic_recurrence
from op_cases import Case

#: Types that numpy and onnxruntime's Python interface cannot pass; they cross the border as float32.
NARROW = (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)
#: What a case can return.
NUMBERS = (torch.Tensor, int, float, torch.SymInt, torch.SymFloat)
TOLERANCE = {torch.float64: 1e-6, torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 2e-2}


class Wrapper(torch.nn.Module):
    """Calls the case; narrow and complex types are converted at the border."""

    def __init__(self, case: Case):
        super().__init__()
        self.call = case.call
        self.dtypes = [tensor.dtype for tensor in case.tensors]

    def forward(self, *tensors):
        given = []
        for tensor, dtype in zip(tensors, self.dtypes, strict=False):
            if dtype in NARROW:
                tensor = tensor.to(dtype)
            elif dtype.is_complex:
                tensor = torch.view_as_complex(tensor)
            given.append(tensor)
        result = self.call(*given)
        return tuple(outward(leaf) for leaf in _pytree.tree_leaves(result) if isinstance(leaf, NUMBERS))


def outward(value):
    if isinstance(value, torch.Tensor):
        if value.dtype in NARROW:
            return value.float()
        if value.is_complex():
            return torch.view_as_real(value.resolve_conj())
    return value


def inward(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dtype in NARROW:
        return tensor.float()
    if tensor.is_complex():
        return torch.view_as_real(tensor).contiguous()
    return tensor


@dataclass
class Prepared:
    folder: Path | None = None
    error: str = ""
    #: Kept of the first case of an operator only.
    program: torch.export.ExportedProgram | None = None
    targets: set[str] = field(default_factory=set)
    feeds: list[list[torch.Tensor]] = field(default_factory=list)
    wanted: list[list] = field(default_factory=list)
    dtypes: list = field(default_factory=list)
    #: opset -> what the command line said, empty if it succeeded
    exported: dict[int, str] = field(default_factory=dict)


def capture(case: Case) -> tuple[Wrapper, torch.export.ExportedProgram]:
    """The case as a module, and what PyTorch captures of it."""
    module = Wrapper(case).eval()
    inputs = tuple(inward(tensor) for tensor in case.tensors)
    shapes = None
    if case.dynamic:
        shapes = (
            tuple(dict.fromkeys(case.dynamic.get(i, {}), torch.export.Dim.DYNAMIC) or None for i in range(len(inputs))),
        )
    with torch.no_grad(), dynamic_recurrence():
        return module, torch.export.export(module, inputs, dynamic_shapes=shapes, strict=False)


def prepare(case: Case, folder: Path) -> Prepared:
    """Captures the case and computes what PyTorch gives."""
    prepared = Prepared(folder=folder)
    try:
        module, program = capture(case)
        with torch.no_grad():
            for tensors in [case.tensors] + ([case.alternative] if case.alternative else []):
                feed = [inward(tensor) for tensor in tensors]
                prepared.feeds.append(feed)
                prepared.wanted.append(list(module(*(tensor.clone() for tensor in feed))))
            prepared.dtypes = [
                leaf.dtype
                for leaf in _pytree.tree_leaves(case.call(*(t.clone() for t in case.tensors)))
                if isinstance(leaf, torch.Tensor)
            ]
        prepared.program = program if case.is_first else None
        prepared.targets = all_targets(program.graph_module)
        folder.mkdir(parents=True)
        torch.export.save(program, folder / "model.pt2")
    except Exception as error:  # noqa: BLE001 - told by the test of this case
        prepared.error = f"{type(error).__name__}: {error}"
    return prepared


def target_name(target) -> str:
    """As archives write it, without `torch.ops.`: `aten.add.Tensor`, `higher_order.cond`, `_operator.add`."""
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order.{target.__name__}"
    return f"{target.__module__}.{target.__name__}"


def all_targets(module: torch.fx.GraphModule) -> set[str]:
    names = {
        target_name(node.target)
        for part in module.modules()
        if isinstance(part, torch.fx.GraphModule)
        for node in part.graph.nodes
        if node.op == "call_function"
    }
    return names | {name.replace("_.", ".", 1) for name in names}


def export_all(prepared: list[tuple[Case, Prepared]], binary: str) -> None:
    """One run of the command line for each case and opset, several at a time."""

    def export(item):
        _case, ready, opset = item
        run = subprocess.run(
            [
                binary,
                "export",
                ready.folder / "model.pt2",
                "-o",
                ready.folder / f"{opset}.onnx",
                "--opset",
                str(opset),
                "-q",
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
        ready.exported[opset] = run.stderr.strip() or f"exit status {run.returncode}" if run.returncode else ""

    work = [(case, ready, opset) for case, ready in prepared if not ready.error for opset in case.opsets]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(export, work))


def check(case: Case, ready: Prepared) -> None:
    import onnx
    import onnxruntime

    assert not ready.error, f"PyTorch does not capture this case: {ready.error}"
    assert case.target in ready.targets, f"{case.target} does not occur in the capture: {sorted(ready.targets)}"
    for opset in case.opsets:
        assert not ready.exported[opset], f"opset {opset}: {ready.exported[opset]}"
        path = str(ready.folder / f"{opset}.onnx")
        onnx.checker.check_model(path)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        for feed, wanted in zip(ready.feeds, ready.wanted, strict=True):
            names = [i.name for i in session.get_inputs()]
            got = session.run(None, {name: tensor.numpy() for name, tensor in zip(names, feed, strict=False)})
            compare(case, opset, got, wanted, ready.dtypes)


def compare(case: Case, opset: int, got: list, wanted: list, dtypes: list) -> None:
    assert len(got) == len(wanted), f"opset {opset}: {len(got)} outputs, PyTorch has {len(wanted)}"
    for index, (have, want) in enumerate(zip(got, wanted, strict=True)):
        where = f"opset {opset}, output {index}"
        want = want.detach() if isinstance(want, torch.Tensor) else torch.tensor(want)
        assert tuple(have.shape) == tuple(want.shape), f"{where}: shape {have.shape}, PyTorch {tuple(want.shape)}"
        assert have.dtype == want.numpy().dtype, f"{where}: type {have.dtype}, PyTorch {want.dtype}"
        if case.compare == "shape":
            continue
        if not want.is_floating_point():
            np.testing.assert_array_equal(have, want.numpy(), err_msg=where)
            continue
        dtype = dtypes[index] if index < len(dtypes) else want.dtype
        rtol = case.rtol or TOLERANCE.get(dtype, 5e-2 if dtype in NARROW else 1e-4)
        finite = want[torch.isfinite(want)].double().abs()
        scale = float(finite.max()) if finite.numel() else 1.0
        np.testing.assert_allclose(
            have.astype(np.float64),
            want.double().numpy(),
            rtol=rtol,
            atol=rtol * max(scale, 1e-3) * 0.1,
            equal_nan=True,
            err_msg=where,
        )
        if case.signs:
            are_zero = (have == 0) & (want.numpy() == 0)
            np.testing.assert_array_equal(
                np.signbit(have[are_zero]), np.signbit(want.numpy()[are_zero]), err_msg=f"{where}: signs of zeros"
            )
