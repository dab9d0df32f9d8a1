"""`modelexport export` with live models as a user runs it."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import onnx
import pytest

import live_models
import support

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(support.ROOT / "python"), "OMP_NUM_THREADS": "1"}


def run(*arguments, folder, expect: int = 0):
    """The command in `folder`, with the Python of this test."""
    live = ["--python", sys.executable] if "--python" not in arguments else []
    return support.modelexport("export", *arguments, *live, expect=expect, env=ENVIRONMENT, cwd=folder)


def test_a_folder_becomes_a_file_with_steps_and_a_summary(tmp_path):
    live_models.encoder(tmp_path / "model")
    axes = '{"input_ids": {"0": "batch"}, "attention_mask": {"0": "batch"}, "token_type_ids": {"0": "batch"}}'
    options = ["--input-text", "hello world", "--dynamic-axes", axes, "--opset", "18", "--format", "json"]
    ended = run("model", "-o", "m.onnx", *options, folder=tmp_path)
    told = json.loads(ended.stdout)
    assert told["statistics"]["coverage"] == 1.0
    assert told["opset"] == 18
    steps = [line.split(":")[0] for line in ended.stderr.splitlines()]
    assert steps == ["load", "trace", "export", "tag", "write"]
    model = onnx.load(tmp_path / "m.onnx")
    assert {value.type.tensor_type.shape.dim[0].dim_param for value in model.graph.input} == {"batch"}
    assert model.opset_import[0].version == 18

    again = run("model", "-o", "m.onnx", folder=tmp_path, expect=2)
    assert "m.onnx: exists already" in again.stderr
    assert "--overwrite" in again.stderr


def test_a_factory_goes_through_torch_and_a_strategy(tmp_path):
    (tmp_path / "zoo_of_mine.py").write_text(live_models.FACTORY)
    options = ["--strategy", "usage_based", "--exporter", "torchscript", "--inputs", "x:[2,4]:float32"]
    ended = run("zoo_of_mine:make", "-o", "m.onnx", *options, folder=tmp_path)
    assert "usage_based" in ended.stdout
    assert "100.0%" in ended.stdout
    assert [line.split(":")[0] for line in ended.stderr.splitlines()] == ["load", "trace", "export", "tag"]
    onnx.checker.check_model(tmp_path / "m.onnx")

    ended = run("zoo_of_mine:missing", "-o", "n.onnx", folder=tmp_path, expect=2)
    assert "module 'zoo_of_mine' has no attribute 'missing'" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "n.onnx").exists()


def test_torch_decomposes_what_has_no_row_and_the_report_says_what_it_cannot(tmp_path):
    (tmp_path / "zoo_of_mine.py").write_text(live_models.LIBRARY)
    ended = run("zoo_of_mine:composite", "-o", "m.onnx", "--inputs", "x:[2,4]:float32", folder=tmp_path)
    assert "100.0%" in ended.stdout
    assert [node.op_type for node in onnx.load(tmp_path / "m.onnx").graph.node] == ["Gelu", "Sin"]
    options = ["--inputs", "x:[2,4]:float32", "--format", "json"]
    ended = run("zoo_of_mine:opaque", "-o", "n.onnx", *options, folder=tmp_path, expect=1)
    told = json.loads(ended.stdout)
    assert told["exported"] is False
    assert told["decompose"] is None
    (operator,) = told["unsupported"]
    assert (operator["target"], operator["decomposition"]) == (
        "zoo.opaque.default",
        "torch has no decomposition for it",
    )


def test_a_python_without_torch_is_told(tmp_path):
    python = tmp_path / "python"
    # Without its site packages.
    python.write_text(f'#!/bin/sh\nunset PYTHONPATH\nexec "{sys.executable}" -S "$@"\n')
    python.chmod(0o755)
    ended = run("zoo:make", "-o", "m.onnx", "--python", str(python), folder=tmp_path, expect=2)
    assert f"{python}: has no torch and no modelexport, which live models need (given by --python)" in ended.stderr
    assert f"{python} -m pip install torch modelexport" in ended.stderr
    ended = run("zoo:make", "-o", "m.onnx", "--python", "no/python", folder=tmp_path, expect=2)
    assert "no/python: there is no such Python" in ended.stderr


@pytest.mark.parametrize(
    "options, message",
    [
        (["--dynamic-axes", "{"], "--dynamic-axes: not valid JSON"),
        (["--input-text", "a", "--input-shape", "1,2"], "cannot be used with"),
        (["--strategy", "htp", "--weights", "external"], "--weights: only for --strategy native"),
        (["--exporter", "dynamo"], "--exporter: only for another --strategy than native"),
        (["--dim-name", "x:0=batch"], "--dim-name: a live model's dimensions are named by --dynamic-axes"),
        (["--strategy", "htp", "--weights-from", "."], "--weights-from: only for --strategy native"),
        (["--strategy", "guess"], "invalid value 'guess'"),
    ],
)
def test_options_that_contradict_are_told_before_python_starts(options, message, tmp_path):
    ended = run("zoo:make", "-o", "m.onnx", *options, "--python", "no/python", folder=tmp_path, expect=2)
    assert message in ended.stderr


def test_options_of_live_models_are_none_of_files(tmp_path):
    fixture = support.FIXTURES / "shared_module" / "model.pt2"
    ended = run(fixture, "-o", "m.onnx", "--input-text", "a", folder=tmp_path, expect=2)
    assert "--input-text: only for live models" in ended.stderr


# A model that waits while it is loaded, or while torch exports it, and says so.
WAITING = """
import time, pathlib, torch

class Waiting(torch.nn.Module):
    def forward(self, x):
        pathlib.Path("waits").touch()
        time.sleep({seconds})
        return x + 1

def make():
    return Waiting()
"""


@contextlib.contextmanager
def started(folder, *options):
    """The command, as soon as its Python runs the model."""
    command = [support.binary(), "export", "waiting_model:make", "-o", "m.onnx", "--python", sys.executable, *options]
    # A shell ignores some signals in what it runs in the background, and the tests may run there.
    command = ["env", "--default-signal", *command]
    with subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) as process:
        try:
            deadline = time.monotonic() + 300
            while not (folder / "waits").exists():
                assert process.poll() is None, process.stderr.read()
                assert time.monotonic() < deadline
                time.sleep(0.01)
            yield process
        finally:
            process.kill()


def pythons_in(folder):
    """Processes that work in the folder."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").resolve() == folder.resolve():
                found.append(process.name)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize("strategy", ["native", "htp"])
def test_a_signal_ends_python_too_and_leaves_the_old_files(tmp_path, number, strategy):
    (tmp_path / "waiting_model.py").write_text(WAITING.format(seconds=30))
    (tmp_path / "m.onnx").write_text("old")
    with started(tmp_path, "--strategy", strategy, "--inputs", "x:[2,4]:float32", "--overwrite") as process:
        process.send_signal(number)
        assert process.wait(timeout=20) == -number
    deadline = time.monotonic() + 20
    while pythons_in(tmp_path):
        assert time.monotonic() < deadline, "Python still runs"
        time.sleep(0.05)
    names = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}
    assert names == {"m.onnx", "waiting_model.py", "waits"}
    assert (tmp_path / "m.onnx").read_text() == "old"
