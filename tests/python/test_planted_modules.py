"""No code runs that happens to lie in the current folder, the model's or the output's: each planted module would leave a
mark."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

import live_models
import support

# What Python imports at its start, what the package imports, and what libraries import if it is there.
NAMES = [
    "json",
    "torch",
    "modelexport",
    "transformers",
    "numpy",
    "sitecustomize",
    "usercustomize",
    "flash_attn",
    "apex",
]


def plant(folder: Path, marks: Path, names=NAMES, as_packages: bool = False) -> None:
    """Puts modules into `folder` that leave a mark when they are imported."""
    marks.mkdir(exist_ok=True)
    for name in names:
        code = f"open({str(marks / f'{folder.name}.{name}')!r}, 'w').close()\n"
        if as_packages:
            (folder / name).mkdir()
            (folder / name / "__init__.py").write_text(code)
        else:
            (folder / f"{name}.py").write_text(code)
    code = f"import os; open({str(marks / f'{folder.name}.pth')!r}, 'w').close()\n"
    (folder / "planted.pth").write_text(code)


@pytest.fixture
def places(tmp_path):
    """The current folder, the model's and the output's, and where the marks are."""
    current, output = tmp_path / "current", tmp_path / "output"
    current.mkdir()
    output.mkdir()
    return current, live_models.encoder(tmp_path / "model"), output, tmp_path / "marks"


def export(*arguments, folder: Path, expect: int = 0, **environment) -> subprocess.CompletedProcess:
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    options = ["--python", sys.executable]
    env = {**clean, "OMP_NUM_THREADS": "1", **environment}
    return support.modelexport("export", *arguments, *options, expect=expect, env=env, cwd=folder)


# The last one is an empty part, which stands for the current folder.
@pytest.mark.parametrize("python_path", [".", "/nowhere:"])
@pytest.mark.parametrize("as_packages", [False, True])
def test_a_hugging_face_folder_runs_no_code_of_any_folder(places, as_packages, python_path):
    current, model, output, marks = places
    for folder in (current, model, output):
        plant(folder, marks, as_packages=as_packages)
    export(model, "-o", output / "m.onnx", "--input-text", "hello", folder=current, PYTHONPATH=python_path)
    assert (output / "m.onnx").exists()
    assert os.listdir(marks) == []
    # Where all three are one folder, as after a download.
    export(".", "-o", "m.onnx", "--strategy", "htp", folder=model)
    assert os.listdir(marks) == []


def test_a_factory_adds_the_current_folder_after_all_others(places):
    current, _, output, marks = places
    names = [name for name in NAMES if name not in ("flash_attn", "apex")]
    plant(current, marks, names)
    plant(output, marks)
    (current / "my_package").mkdir()
    (current / "my_package" / "models.py").write_text(live_models.FACTORY)
    export("my_package.models:make", "-o", output / "m.onnx", "--inputs", "x:[2,4]:float32", folder=current)
    onnx.checker.check_model(output / "m.onnx")
    assert os.listdir(marks) == []


def test_an_installed_factory_needs_no_folder(places):
    current, _, output, marks = places
    plant(current, marks, [*NAMES, "torchvision", "triton"])
    export("torch.nn:ReLU", "-o", output / "m.onnx", "--inputs", "input:[2,3]:float32", folder=current)
    assert os.listdir(marks) == []


def test_other_folders_are_named(places):
    current, model, output, _ = places
    (model / "models_of_mine.py").write_text(live_models.FACTORY)
    arguments = ["models_of_mine:make", "-o", output / "m.onnx", "--inputs", "x:[2,4]:float32"]
    ended = export(*arguments, folder=current, expect=2, PYTHONPATH=str(model))
    assert "models_of_mine:make: module 'models_of_mine' cannot be imported by this Python" in ended.stderr
    export(*arguments, "--python-path", os.path.relpath(model, current), folder=current)
    onnx.checker.check_model(output / "m.onnx")


def test_the_package_as_a_command_imports_nothing_from_the_current_folder(places):
    current, model, output, marks = places
    names = [name for name in NAMES if name != "modelexport"]
    # Python itself looks for the package in the current folder; what the package imports is another matter.
    plant(current, marks, [*names, "signal", "typing", "enum", "dataclasses"])
    for folder in (model, output):
        plant(folder, marks)
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    command = [sys.executable, "-m", "modelexport", "export", model, "-o", output / "m.onnx", "--input-text", "hello"]
    ended = subprocess.run(list(map(str, command)), cwd=current, env=clean, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert os.listdir(marks) == []


def test_code_that_a_model_ships_with_runs_only_if_it_is_trusted(tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    model = live_models.own_code(tmp_path / "model")
    for file in ("configuration_tiny.py", "modeling_tiny.py"):
        code = f"open({str(marks / file)!r}, 'w').close()\n"
        (model / file).write_text(code + (model / file).read_text())
    arguments = [model, "-o", tmp_path / "m.onnx", "--input-shape", "2,8"]
    ended = export(*arguments, folder=tmp_path, expect=2)
    assert "contains code; review it, then pass --trust-remote-code to run it" in ended.stderr
    assert os.listdir(marks) == []
    cache = {"HF_MODULES_CACHE": str(tmp_path / "cache")}
    export(*arguments, "--trust-remote-code", folder=tmp_path, **cache)
    assert sorted(os.listdir(marks)) == ["configuration_tiny.py", "modeling_tiny.py"]


def test_a_configuration_downloads_no_code(places):
    current, model, output, _ = places
    described = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**described, "attn_implementation": "someone/kernel"}))
    ended = export(model, "-o", output / "m.onnx", folder=current, expect=2)
    assert f"{model}: has code of others on the Hugging Face hub, someone/kernel" in ended.stderr


class Planted:
    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self):
        return open, (str(self.mark), "w")


def test_pickled_weights_run_nothing(places):
    current, model, output, marks = places
    marks.mkdir()
    (model / "model.safetensors").unlink()
    (model / "pytorch_model.bin").write_bytes(pickle.dumps({"weight": Planted(marks / "weights")}))
    ended = export(model, "-o", output / "m.onnx", folder=current, expect=2)
    assert str(model) in ended.stderr
    assert os.listdir(marks) == []
