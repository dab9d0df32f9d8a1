#!/usr/bin/env python3
"""PyTorch's own operator database, exported and run in onnxruntime.

    op_db.py make  [NAME...] --out DIR       capture the samples: DIR/ENTRY/DTYPE-K/{model.pt2,io.npz,sample.json}
    op_db.py score [NAME...] --out DIR       export each capture, run it, compare; one JSON line an entry
    op_db.py peer  [NAME...] --out DIR       the same for torch.onnx.export, on first samples only

`op_db_table.py` makes docs/op-db.md of the results.

An entry is an `OpInfo` of `op_db`; NAME matches the whole name of an entry (`linalg.inv_ex`, `std_mean.unbiased`) or is a
pattern (`linalg.*`). Tensors of a sample become inputs, everything else constants.

What can become of a sample:
    right        values, shapes and types are those of eager PyTorch (float16: or those that it computes in float32)
    unsupported  the export reports operators without a row
    refused      the export says why it cannot be right
    failed       onnxruntime cannot load or run the file
    wrong        onnxruntime gives something else
A sample that eager PyTorch or torch.export refuses is not judged.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from torch.utils import _pytree

import op_harness
import support

DTYPES = {"float32": torch.float32, "int64": torch.int64, "bool": torch.bool, "float16": torch.float16}
#: Samples that are taken of an entry and type.
SAMPLES = 4
#: Seconds for all samples of one entry; capturing a sample takes a tenth of a second.
ENTRY_SECONDS = 300
#: What these return is whatever the memory held, so that only shape and type are compared.
UNINITIALISED = re.compile(r"(new_)?empty(_like|_strided|_permuted)?$")
#: PyTorch leaves the order of equal elements open here, and with it which index stands for them.
SORTS = {"argsort", "kthvalue", "median", "mode", "nanmedian", "sort", "topk"}
VERDICTS = ("right", "unsupported", "refused", "failed", "wrong")


def entries() -> dict[str, object]:
    """Every entry of the database by its name."""
    from torch.testing._internal.common_methods_invocations import op_db

    found = {}
    for info in op_db:
        name = ".".join(part for part in (info.name, info.variant_test_name) if part)
        assert name not in found, name
        found[name] = info
    return found


class Call(torch.nn.Module):
    """A call of an operator whose tensors are the inputs."""

    def __init__(self, function, spec, leaves):
        super().__init__()
        self.function, self.spec, self.leaves = function, spec, leaves

    def forward(self, *tensors):
        given = iter(tensors)
        leaves = []
        for leaf in self.leaves:
            if isinstance(leaf, torch.Tensor):
                tensor = next(given)
                leaf = torch.view_as_complex(tensor) if leaf.is_complex() else tensor
            leaves.append(leaf)
        args, kwargs = _pytree.tree_unflatten(leaves, self.spec)
        result = _pytree.tree_leaves(self.function(*args, **kwargs))
        return tuple(op_harness.outward(leaf) for leaf in result if isinstance(leaf, op_harness.NUMBERS))


def samples(info, dtype, most):
    """The first samples of a type. Making one may need packages or features that are not here."""
    try:
        torch.manual_seed(0)
        for index, sample in enumerate(info.sample_inputs("cpu", dtype, requires_grad=False)):
            if index == most:
                return
            yield index, sample
    except Exception as error:  # noqa: BLE001 - an entry that makes no samples is not judged
        print(f"{info.name}: {type(error).__name__}: {error}", file=sys.stderr)


def capture(info, sample, folder: Path) -> str:
    """Writes the sample and PyTorch's results; what went wrong if it cannot be judged."""
    leaves, spec = _pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    if any(tensor.layout != torch.strided or tensor.is_nested for tensor in tensors):
        return "a tensor that is not strided"
    inputs = [op_harness.inward(tensor.detach().clone()) for tensor in tensors]
    call = Call(info.get_op(), spec, leaves).eval()
    with torch.no_grad():

        def run(function=call):
            return [
                torch.as_tensor(value).detach().clone() for value in function(*(tensor.clone() for tensor in inputs))
            ]

        try:
            first = run()
            program = torch.export.export(call, tuple(inputs), strict=False)
            if not first:
                return "no tensor in the result"
            folder.mkdir(parents=True, exist_ok=True)
            torch.export.save(program, folder / "model.pt2")
        except Exception as error:  # noqa: BLE001 - PyTorch refuses the sample
            return f"{type(error).__name__}: {error}".splitlines()[0][:300]
        random = bool(UNINITIALISED.match(info.name)) or (
            draws_numbers(program) and depends_on_seed(run, program.module())
        )
    np.savez(
        folder / "io.npz",
        **{f"in{i}": tensor.numpy() for i, tensor in enumerate(inputs)},
        **{f"out{i}": tensor.numpy() for i, tensor in enumerate(first)},
    )
    names = {
        node.target._schema.name.removeprefix("aten::")
        for node in program.graph.nodes
        if hasattr(node.target, "_schema")
    }
    numbers = [i for i, value in enumerate(call(*inputs)) if not isinstance(value, torch.Tensor)]
    (folder / "sample.json").write_text(
        json.dumps({"random": random, "numbers": numbers, "sorts": bool(names & SORTS)})
    )
    return ""


def draws_numbers(program) -> bool:
    """Whether the program may depend on the seed. The database's own functions set one, so that calling them twice does not tell."""
    return any(torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()) for node in program.graph.nodes)


def depends_on_seed(run, program) -> bool:
    """A few elements may come out the same for two seeds, so that more are tried."""
    results = []
    for seed in range(16):
        torch.manual_seed(seed)
        results.append(run(program))
    return not all(same(results[0], other) for other in results[1:])


def same(left, right) -> bool:
    return len(left) == len(right) and all(
        a.shape == b.shape
        and a.dtype == b.dtype
        and np.array_equal(a.numpy(), b.numpy(), equal_nan=a.is_floating_point())
        for a, b in zip(left, right, strict=False)
    )


def make(name: str, info, out: Path, most: int) -> dict:
    folder = out / name
    if (folder / "entry.json").exists():
        return json.loads((folder / "entry.json").read_text())
    found = {"captured": [], "not_judged": {}}
    for label, dtype in DTYPES.items():
        if dtype not in info.dtypes:
            continue
        for index, sample in samples(info, dtype, most):
            key = f"{label}-{index}"
            reason = capture(info, sample, folder / key)
            if reason:
                found["not_judged"][key] = reason
            else:
                found["captured"].append(key)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "entry.json").write_text(json.dumps(found))
    return found


def ours(folder: Path, target: Path) -> tuple[str, str]:
    """Verdict and reason where the export ends without a file."""
    ended = subprocess.run(
        [str(support.binary()), "export", str(folder / "model.pt2"), "-o", str(target), "-q", "--overwrite"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    if ended.returncode == 0:
        return "", ""
    said = ended.stderr.strip()
    return ("unsupported" if "not supported at opset" in said else "refused"), said


def torch_onnx(folder: Path, target: Path) -> tuple[str, str]:
    try:
        program = torch.export.load(folder / "model.pt2")
        torch.onnx.export(program, f=str(target), verbose=False)
    except Exception as error:  # noqa: BLE001 - whatever torch's exporter raises
        return "unsupported", f"{type(error).__name__}: {error}".splitlines()[0]
    return "", ""


def judge(folder: Path, export) -> tuple[str, str]:
    """What becomes of one captured sample, and why."""
    import onnxruntime

    target = folder / "out.onnx"
    verdict, reason = export(folder, target)
    if verdict:
        return verdict, reason
    with np.load(folder / "io.npz") as data:
        feed, wanted = support.series(data, "in"), support.series(data, "out")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(str(target), options, providers=["CPUExecutionProvider"])
        names = [value.name for value in session.get_inputs()]
        # torch's exporter drops inputs that nothing reads, but keeps the numbers in the names of the others.
        if len(names) == len(feed):
            given = dict(zip(names, feed, strict=True))
        else:
            given = {value: feed[int(re.sub(r"\D", "", value) or 0)] for value in names}
        got = session.run(None, given)
    except Exception as error:  # noqa: BLE001 - whatever onnxruntime raises
        return "failed", f"{type(error).__name__}: {error}"[:600]
    sample = json.loads((folder / "sample.json").read_text())
    # A number of Python has no width.
    for index in sample["numbers"]:
        if got[index].dtype.kind == wanted[index].dtype.kind:
            wanted[index] = wanted[index].astype(got[index].dtype)
    sorted_from = feed[0] if sample["sorts"] else None
    verdict, reason = compare(got, wanted, sample["random"], sorted_from)
    if verdict == "wrong" and any(value.dtype == np.float16 for value in wanted):
        precise = in_single(folder, feed, wanted)
        if precise and compare(got, precise, False, sorted_from)[0] == "right":
            return "right", ""
    return verdict, reason


def in_single(folder: Path, feed: list, wanted: list) -> list | None:
    """What PyTorch computes in float32 from the same float16 inputs: some of its kernels round every step to float16, which
    is further from the truth than a result that is rounded once."""

    def wide(value):
        tensor = torch.from_numpy(value)
        return tensor.float() if tensor.dtype == torch.float16 else tensor

    try:
        module = torch.export.load(folder / "model.pt2").module(check_guards=False)
        return [value.numpy().astype(want.dtype) for value, want in zip(module(*map(wide, feed)), wanted, strict=False)]
    except Exception:  # noqa: BLE001 - the program holds float16 constants, or checks its inputs
        return None


def compare(got: list, wanted: list, is_random: bool, sorted_from: np.ndarray | None) -> tuple[str, str]:
    """`sorted_from`: what indices in the results lead into; those of equal elements are equal."""
    if len(got) != len(wanted):
        return "wrong", f"{len(got)} outputs, PyTorch has {len(wanted)}"
    for index, (have, want) in enumerate(zip(got, wanted, strict=True)):
        if have.shape != want.shape or have.dtype != want.dtype:
            return (
                "wrong",
                f"output {index}: {have.dtype}{list(have.shape)}, PyTorch has {want.dtype}{list(want.shape)}",
            )
        if is_random or not want.size:
            continue
        if sorted_from is not None and want.dtype == np.int64 and index_same(have, want, sorted_from):
            continue
        try:
            support.assert_close(have, want, str(want.dtype), f"output {index}")
        except AssertionError as error:
            return "wrong", str(error)
    return "right", ""


def index_same(have: np.ndarray, want: np.ndarray, table: np.ndarray) -> bool:
    """Whether both lead to the same elements along some axis, which the result may have lost (`keepdim=False`)."""
    if have.min() < 0:
        return False
    if table.ndim == want.ndim + 1:
        return any(
            index_same(np.expand_dims(have, axis), np.expand_dims(want, axis), table) for axis in range(table.ndim)
        )
    if table.ndim != want.ndim:
        return False
    fits = [
        axis
        for axis in range(table.ndim)
        if have.max() < table.shape[axis] > want.max()
        and all(table.shape[other] == want.shape[other] for other in range(table.ndim) if other != axis)
    ]
    return any(
        np.array_equal(np.take_along_axis(table, have, axis), np.take_along_axis(table, want, axis)) for axis in fits
    )


def score(name: str, out: Path, export, most: int | None) -> dict:
    made = json.loads((out / name / "entry.json").read_text())
    kept = made["captured"][:most]
    judged = {key: judge(out / name / key, export) for key in kept}
    return {
        "samples": {key: verdict for key, (verdict, _) in judged.items()},
        "why": {key: reason for key, (verdict, reason) in judged.items() if verdict != "right"},
        "not_judged": made["not_judged"],
    }


def apart(work, seconds: int = ENTRY_SECONDS) -> dict:
    """Runs `work` in a child process: a runtime that crashes or hangs costs only its entry."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(seconds)
        try:
            row = work()
        except BaseException as error:  # noqa: BLE001 (a child process reports whatever ended it)
            row = {"died": f"{type(error).__name__}: {error}"[:600]}
        with os.fdopen(writer, "w") as file:
            file.write(json.dumps(row))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        said = file.read()
    _, status = os.waitpid(child, 0)
    return json.loads(said) if said else {"died": f"ended by signal {os.WTERMSIG(status)}"}


def verdict(row: dict) -> str:
    """Of a whole entry: right only where every sample is; else the worst that happened. `-` if nothing can be judged."""
    if "died" in row:
        return "failed"
    found = set(row["samples"].values())
    return max(found, key=VERDICTS.index) if found else "-"


def selected(patterns: list[str], known: dict) -> list[str]:
    if not patterns:
        return list(known)
    chosen = [name for name in known if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    if not chosen:
        sys.exit(f"no entry is called {' or '.join(patterns)}")
    return chosen


def main() -> None:
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("make", "score", "peer"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "op_db")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="at most this many of each type")
    parser.add_argument("--results", type=Path, help="write one JSON line an entry here")
    parser.add_argument("--why", action="store_true", help="print the reasons")
    options = parser.parse_args()
    torch.set_num_threads(1)
    known = entries()
    if options.verb == "peer":
        import onnxscript  # noqa: F401 - once, before the forks
    works = {
        "make": lambda name: make(name, known[name], options.out, options.samples),
        "score": lambda name: score(name, options.out, ours, None),
        "peer": lambda name: score(name, options.out, torch_onnx, 1),
    }
    totals = Counter()
    rows = []
    names = selected(options.names, known)
    with ThreadPoolExecutor(2) as pool:
        for name, row in zip(
            names, pool.map(lambda name: apart(lambda: works[options.verb](name)), names), strict=False
        ):
            rows.append({"name": name, **row})
            if options.verb == "make":
                print(
                    name,
                    row.get("died") or f"{len(row['captured'])} captured, {len(row['not_judged'])} not",
                    flush=True,
                )
                continue
            whole = verdict(row)
            totals[whole] += 1
            if whole not in ("right", "-"):
                counts = Counter(row.get("samples", {}).values())
                print(f"{whole:12}{name}: {row.get('died') or dict(counts)}", flush=True)
                told = set()
                for key, reason in row.get("why", {}).items() if options.why else ():
                    if reason not in told:
                        print(f"    {key}: {row['samples'][key]}: {' '.join(reason.split())}")
                        told.add(reason)
    if options.results:
        options.results.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if options.verb != "make":
        judged = sum(count for whole, count in totals.items() if whole != "-")
        print(f"{judged} entries judged: " + ", ".join(f"{totals[whole]} {whole}" for whole in VERDICTS))


if __name__ == "__main__":
    main()
