"""The functions of the package: what they give back, and what they raise."""

import ast
import json
import os
import pickle
import subprocess
import sys
import threading
import time

import pytest
import torch

import modelexport
import python_models
import support
from modelexport import _native

PACKAGE = support.ROOT / "python"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PACKAGE)}


def python(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *arguments], env=ENVIRONMENT, capture_output=True, text=True, **options)


def stack() -> tuple[torch.nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    return python_models.Stack().eval(), torch.randn(2, 8)


# ---- the package


def test_importing_it_and_its_command_do_not_import_torch():
    code = (
        "import sys, modelexport; dir(modelexport); print([m for m in ('torch', 'numpy', 'onnx') if m in sys.modules])"
    )
    assert python("-c", code).stdout == "[]\n"
    code = "import runpy, sys; sys.argv = ['modelexport', '--help']\ntry: runpy.run_module('modelexport', run_name='__main__')\nexcept SystemExit as e: print(e.code, 'torch' in sys.modules)"
    ended = python("-c", code)
    assert ended.stdout.endswith("0 False\n")
    assert "Usage: modelexport" in ended.stdout


def test_the_command_of_the_package_is_that_of_the_binary():
    arguments = ["tree", str(support.FIXTURES / "shared_module" / "model.pt2")]
    ended = python("-m", "modelexport", *arguments)
    assert ended.returncode == 0
    assert ended.stdout == support.modelexport(*arguments).stdout
    assert python("-m", "modelexport", "tree", "none.pt2").returncode == 3
    assert python("-m", "modelexport", "nonsense").returncode == 2


def test_every_public_name_is_there():
    assert {"export", "UnsupportedOperators", "__version__"} <= set(modelexport.__all__) <= set(dir(modelexport))
    for name in modelexport.__all__:
        assert getattr(modelexport, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = modelexport.no_such_name


def test_type_checkers_see_every_public_name():
    stub = ast.parse((PACKAGE / "modelexport" / "__init__.pyi").read_text())
    imported = {
        alias.asname: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert imported == modelexport._HOMES
    assert (PACKAGE / "modelexport" / "py.typed").exists()
    native = ast.parse((PACKAGE / "modelexport" / "_native.pyi").read_text())
    described = {node.name for node in native.body if isinstance(node, ast.FunctionDef)}
    assert described == {name for name, value in vars(_native).items() if callable(value)} - {"panic_for_tests"}


# ---- the result


def test_the_result_tells_what_was_made(tmp_path):
    model, x = stack()
    result = modelexport.export(model, (x,), tmp_path / "m.onnx")
    assert result.path == tmp_path / "m.onnx"
    assert result.files == [tmp_path / "m.onnx", tmp_path / "m_hierarchy.json"]
    assert result.coverage == 1.0
    assert [module["path"] for module in result.modules] == [path for path, _ in model.named_modules()]
    assert {module["path"]: module["calls"] for module in result.modules}["first"] == 2
    assert [node["name"] for node in result.nodes] == [node.name for node in result.model_proto.graph.node]
    assert result.hierarchy == json.loads((tmp_path / "m_hierarchy.json").read_text())
    assert result.hierarchy["source"] == {"kind": "module", "torch_version": torch.__version__}
    assert "first" in result.tree()
    assert "norm" not in result.tree(depth=1)
    assert repr(result).startswith(f"ExportResult({str(tmp_path / 'm.onnx')!r}, {len(result.nodes)} nodes")
    html = result._repr_html_()
    assert html.count("<li>") == len(result.modules)
    assert "<b>LayerNorm</b>" in html
    assert result.seconds["total"] >= result.seconds["capture"] > 0


def test_options_reach_the_file(tmp_path):
    model, x = stack()
    result = modelexport.export(
        model,
        x,
        str(tmp_path / "m.onnx"),
        opset_version=17,
        modules="all",
        tag_format="class",
        embed=["doc-string"],
        weights="external",
        verbose=False,
        dynamo=True,
        optimize=True,
    )
    proto = result.model_proto
    assert proto.opset_import[0].version == 17
    assert not any(node.metadata_props for node in proto.graph.node)
    assert "/Stack/Block/Linear" in {node["path"] for node in result.nodes}
    result = modelexport.export(
        model, x, tmp_path / "m.onnx", torch_nn_exceptions=["Linear"], embed="none", external_data=False
    )
    assert "/Stack/Block.first/Linear" in {node["path"] for node in result.nodes}
    assert not any(node.doc_string for node in result.model_proto.graph.node)


def test_inputs_may_be_a_tensor_a_tuple_or_a_dict(tmp_path):
    model, x = stack()
    files = [tmp_path / f"{i}.onnx" for i in range(3)]
    modelexport.export(model, x, files[0])
    modelexport.export(model, [x], files[1])
    modelexport.export(model, {"x": x}, files[2])
    assert len({file.read_bytes() for file in files}) == 1


def test_a_training_model_is_exported_as_it_is_with_a_warning(tmp_path):
    model, x = stack()
    with pytest.warns(UserWarning, match="in training mode"):
        modelexport.export(model.train(), x, tmp_path / "m.onnx")


# ---- what goes wrong


def test_wrong_arguments_are_told(tmp_path):
    model, x = stack()
    f = tmp_path / "m.onnx"
    wrong = [
        (TypeError, r"'opset_versoin'; did you mean 'opset_version'\?", {"opset_versoin": 17}),
        (TypeError, "'dynamo' only as True", {"dynamo": False}),
        (ValueError, "opset 99 is not supported", {"opset_version": 99}),
        (TypeError, "opset_version: expected a number", {"opset_version": "17"}),
        (ValueError, 'weights "nowhere" is not known; there are embed, external', {"weights": "nowhere"}),
        (ValueError, "contradict each other: embed, external", {"weights": "embed", "external_data": True}),
        (ValueError, 'modules "some" is not known; there are model, huggingface, all', {"modules": "some"}),
        (ValueError, 'tag_format "short" is not known', {"tag_format": "short"}),
        (ValueError, 'embed "comment" is not known', {"embed": "comment"}),
        (ValueError, r"2 names for 1 inputs \(x\)", {"input_names": ["a", "b"]}),
        (ValueError, 'the output name "" is empty', {"output_names": [""]}),
        (TypeError, "input_names: expected a list", {"input_names": "x"}),
        (ValueError, "give one of them", {"dynamic_shapes": {"x": {0: "b"}}, "dynamic_axes": {"x": [0]}}),
        (FileNotFoundError, "none.toml", {"rules": tmp_path / "none.toml"}),
    ]
    for kind, message, options in wrong:
        with pytest.raises(kind, match=message):
            modelexport.export(model, x, f, **options)
    with pytest.raises(ValueError, match="not in a file, so the model cannot refer to them"):
        modelexport.export(torch.nn.Linear(64, 64).eval(), torch.randn(1, 64), f, weights="reference")
    for given in (None, 3):
        with pytest.raises(TypeError, match="f"):
            modelexport.export(model, x, given)
    with pytest.raises(TypeError, match=r"expected an nn.Module, an ExportedProgram or the path"):
        modelexport.export(torch.relu, x, f)
    with pytest.raises(TypeError, match="ScriptModule"):
        modelexport.export(torch.jit.trace(model, x), x, f)
    with pytest.raises(ValueError, match="leave args and kwargs out"):
        modelexport.export(torch.export.export(model, (x,)), (x,), f)
    assert not list(tmp_path.iterdir())


def test_failures_of_files_are_the_usual_exceptions(tmp_path):
    model, x = stack()
    with pytest.raises(FileNotFoundError, match=r"none.pt2"):
        modelexport.export(tmp_path / "none.pt2", f=tmp_path / "m.onnx")
    with pytest.raises(FileNotFoundError, match="does not exist; make it first"):
        modelexport.export(model, x, tmp_path / "none" / "m.onnx")
    (tmp_path / "bad.pt2").write_text("no archive")
    with pytest.raises(ValueError, match="is not a zip archive"):
        modelexport.export(tmp_path / "bad.pt2", f=tmp_path / "m.onnx")
    (tmp_path / "m_hierarchy.json").write_text("mine")
    with pytest.raises(FileExistsError, match=r"m_hierarchy.json"):
        modelexport.export(model, x, tmp_path / "m.onnx", overwrite=False)
    modelexport.export(model, x, tmp_path / "m.onnx")
    with pytest.raises(FileExistsError, match=r"m.onnx"):
        modelexport.export(model, x, tmp_path / "m.onnx", overwrite=False)
    with pytest.raises(ValueError, match="is a folder"):
        modelexport.export(tmp_path, f=tmp_path / "n.onnx")


def test_operators_that_cannot_be_exported_are_listed(tmp_path):
    with pytest.raises(modelexport.UnsupportedOperators, match="1 operator is not supported") as caught:
        modelexport.export(python_models.Unsupported().eval(), torch.randn(2, 4), tmp_path / "m.onnx")
    (operator,) = caught.value.operators
    assert (operator.target, operator.count, operator.modules) == ("aten.hash_tensor.default", 2, [""])
    assert "hash_tensor" in operator.source
    assert operator.decomposition == "torch has no decomposition for it"
    assert isinstance(caught.value, (modelexport.ModelExportError, ValueError))
    assert pickle.loads(pickle.dumps(caught.value)).operators == [operator]
    assert not list(tmp_path.iterdir())


def test_memory_without_an_address_is_refused_and_not_read(tmp_path, monkeypatch):
    from modelexport.capture import weights

    add = weights.Weights._add
    monkeypatch.setattr(weights.Weights, "_add", lambda self, address, length, owner: add(self, 0, length, owner))
    with pytest.raises(ValueError, match="has a length but no address"):
        modelexport.export(*stack(), tmp_path / "m.onnx")


@pytest.mark.skipif(not hasattr(_native, "panic_for_tests"), reason="built without the feature panic-for-tests")
def test_a_panic_of_the_native_part_is_an_exception():
    with pytest.raises(modelexport.InternalError, match="a fault of modelexport, please report it: on purpose"):
        _native.panic_for_tests("on purpose")


# ---- other threads, and Ctrl-C


INTERRUPTED = """
import os, signal, sys, threading
import modelexport
source, target = sys.argv[1:]
# A shell starts what runs in its background deaf to Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        modelexport.export(source, f=target)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_the_writing_and_leaves_nothing_half_done(tmp_path):
    program = torch.export.export(torch.nn.Linear(3000, 3000).eval(), (torch.randn(1, 3000),))
    torch.export.save(program, tmp_path / "m.pt2")
    (tmp_path / "out").mkdir()
    ended = python("-c", INTERRUPTED, str(tmp_path / "m.pt2"), str(tmp_path / "out" / "m.onnx"), timeout=60)
    assert ended.stdout == "interrupted\n", ended.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) in ([], ["m.onnx", "m_hierarchy.json"])


def test_other_python_threads_go_on_during_the_native_part(tmp_path):
    program = torch.export.export(torch.nn.Linear(4096, 4096).eval(), (torch.randn(1, 4096),))
    seen, done = [], threading.Event()

    def count():
        while not done.is_set():
            seen.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    result = modelexport.export(program, f=tmp_path / "m.onnx")
    done.set()
    thread.join()
    seconds = result.seconds["write"]
    assert len(seen) > min(10, seconds * 50)
