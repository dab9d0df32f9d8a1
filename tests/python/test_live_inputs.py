"""Live models of the command line, from what the user typed to the file: sources, inputs, dynamic axes, errors."""

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
import transformers

import live_models
from modelexport.live import job, sources

FACTORY = "live_factory_of_a_test"


def request(source, output, **given) -> dict:
    """What the command line asks for with these options."""
    policy = dict.fromkeys(("modules", "torch_nn_exceptions", "rules", "tag_format"))
    asked = {
        "kind": "factory" if ":" in str(source) else "hugging_face",
        "source": str(source),
        "output": str(output),
        "overwrite": False,
        "opset": None,
        "weights": "auto",
        "weights_from": None,
        "embed": "doc-string,metadata-props",
        "source_info": False,
        "keep_batch_norm": False,
        "fuse": "standard",
        "policy": policy,
        "strategy": "native",
        "exporter": "dynamo",
        "input_text": [],
        "input_shape": [],
        "inputs": [],
        "inputs_from": None,
        "dynamic_axes": None,
        "trust_remote_code": False,
    }
    assert set(given) <= set(asked)
    return {**asked, **given}


def export(source, folder, **given) -> dict[str, list]:
    """Sizes of the inputs of the file by name."""
    job.run(request(source, folder / "m.onnx", **given), lambda step: None)
    return sizes_of_inputs(folder / "m.onnx")


def sizes_of_inputs(path) -> dict[str, list]:
    return {
        value.name: [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in onnx.load(path).graph.input
    }


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return live_models.encoder(tmp_path_factory.mktemp("live") / "encoder")


@pytest.fixture
def factory(tmp_path, monkeypatch):
    (tmp_path / f"{FACTORY}.py").write_text(live_models.FACTORY)
    monkeypatch.chdir(tmp_path)
    return FACTORY


# ---- inputs


def test_text_goes_through_the_tokenizer(encoder, tmp_path):
    sizes = export(encoder, tmp_path, input_text=["hello world", "a"])
    assert sizes == {"input_ids": [2, 4], "attention_mask": [2, 4], "token_type_ids": [2, 4]}


def test_inputs_are_described_by_shape_by_name_or_made(encoder, tmp_path):
    assert export(encoder, tmp_path, input_shape=["1,7"]) == {"input_ids": [1, 7]}
    described = ["input_ids:[3,5]:int64", "attention_mask:[3,5]:int64"]
    assert export(encoder, tmp_path, inputs=described, overwrite=True) == {
        "input_ids": [3, 5],
        "attention_mask": [3, 5],
    }
    assert export(encoder, tmp_path, overwrite=True) == {"input_ids": [1, 16], "attention_mask": [1, 16]}


def test_inputs_come_from_a_file_by_name_or_in_order(encoder, factory, tmp_path):
    np.savez(tmp_path / "named.npz", input_ids=np.ones((2, 6), np.int64))
    assert export(encoder, tmp_path, inputs_from=str(tmp_path / "named.npz")) == {"input_ids": [2, 6]}
    np.savez(tmp_path / "ordered.npz", np.ones((2, 4), np.float32), np.ones(4, np.float32))
    sizes = export(f"{factory}:make", tmp_path, inputs_from=str(tmp_path / "ordered.npz"), overwrite=True)
    assert sizes == {"x": [2, 4], "scale": [4]}


def test_a_factory_may_give_its_inputs(factory, tmp_path):
    assert export(f"{factory}:make_with_inputs", tmp_path) == {"x": [3, 4], "scale": [4]}
    assert export(f"{factory}:Net", tmp_path, overwrite=True) == {"x": [1, 4]}


def test_axes_are_dynamic_also_where_the_example_has_one_element(encoder, tmp_path):
    names = {"0": "batch", "-1": "sequence"}
    axes = {"input_ids": names, "attention_mask": names, "token_type_ids": names, "last_hidden_state": {"0": "batch"}}
    sizes = export(encoder, tmp_path, input_text=["hello world"], dynamic_axes=axes)
    assert sizes == {key: ["batch", "sequence"] for key in ["input_ids", "attention_mask", "token_type_ids"]}
    inputs = {"input_ids": torch.randint(0, 9, (3, 11)), "attention_mask": torch.ones(3, 11, dtype=torch.int64)}
    inputs["token_type_ids"] = torch.zeros(3, 11, dtype=torch.int64)
    model = transformers.BertModel.from_pretrained(encoder).eval()
    with torch.no_grad():
        want = model(**inputs).last_hidden_state.numpy()
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    got = session.run(["last_hidden_state"], {name: value.numpy() for name, value in inputs.items()})[0]
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)


# ---- models of several parts


@pytest.mark.parametrize("build", [live_models.encoder_decoder, live_models.speech, live_models.text_and_image])
def test_models_of_several_parts_need_no_description(build, tmp_path):
    build().save_pretrained(tmp_path / "model")
    steps = []
    job.run(request(tmp_path / "model", tmp_path / "m.onnx"), steps.append)
    assert steps == ["load", "trace", "export", "tag", "write"]
    outputs = [value.name for value in onnx.load(tmp_path / "m.onnx").graph.output]
    assert outputs
    assert not any(name.startswith("past_key_values") for name in outputs)


def test_settings_of_parts_are_those_of_the_whole():
    model = live_models.encoder_decoder()
    sources.leave_caches_out(model)
    with torch.no_grad():
        result = model(
            input_ids=torch.ones(1, 3, dtype=torch.int64), decoder_input_ids=torch.ones(1, 2, dtype=torch.int64)
        )
    assert "past_key_values" not in result


# ---- what goes wrong


@pytest.mark.parametrize(
    "given, message",
    [
        (
            {"inputs": ["input_ids"]},
            r"--inputs input_ids: expected NAME:\[SIZES\]:TYPE, such as input_ids:\[1,128\]:int64",
        ),
        ({"inputs": ["input_ids:[1,x,y]:int64"]}, r"--inputs input_ids:\[1,x,y\]:int64: expected sizes such as"),
        ({"inputs": ["input_ids:[1,8]:int65"]}, "'int65' is not an element type of torch"),
        ({"inputs": ["ids:[1,8]:int64"]}, "--inputs: the model has no input 'ids'; it takes input_ids, attention_mask"),
        ({"input_shape": ["a,b"]}, "--input-shape: expected sizes such as"),
        ({"input_shape": ["1,2,3,4"]}, "the model does not run on inputs of these shapes"),
        ({"dynamic_axes": ["input_ids"]}, "--dynamic-axes: expected names by input and axis"),
        ({"dynamic_axes": {"input_ids": {"first": "batch"}}}, "--dynamic-axes: expected names by input and axis"),
        ({"dynamic_axes": {"input_idz": {"0": "b"}}}, "there is no input 'input_idz'; did you mean 'input_ids'?"),
    ],
)
def test_descriptions_that_make_no_sense_are_told(given, message, encoder, tmp_path):
    with pytest.raises(ValueError, match=message):
        export(encoder, tmp_path, **given)
    assert not (tmp_path / "m.onnx").exists()


def test_text_needs_a_tokenizer(factory, tmp_path):
    bare = live_models.encoder(tmp_path / "bare", with_tokenizer=False)
    with pytest.raises(ValueError, match=f"--input-text: {bare} has no tokenizer .none of .*tokenizer.json"):
        export(bare, tmp_path, input_text=["hello"])
    with pytest.raises(ValueError, match="--input-text: only a Hugging Face model has a tokenizer"):
        export(f"{factory}:make", tmp_path, input_text=["hello"])


def test_files_of_inputs_are_checked(encoder, tmp_path):
    (tmp_path / "no.npz").write_text("no archive")
    with pytest.raises(ValueError, match=r"no.npz: cannot be read as an .npz file of plain arrays"):
        export(encoder, tmp_path, inputs_from=str(tmp_path / "no.npz"))
    np.savez(tmp_path / "other.npz", words=np.ones((1, 2), np.int64))
    with pytest.raises(ValueError, match=r"other.npz: the model has no input 'words'; it takes input_ids"):
        export(encoder, tmp_path, inputs_from=str(tmp_path / "other.npz"))
    with pytest.raises(FileNotFoundError, match=r"none.npz"):
        export(encoder, tmp_path, inputs_from=str(tmp_path / "none.npz"))


def test_factories_that_give_no_model_are_told(factory, tmp_path):
    wrong = {
        "no_such_module_of_a_test:make": "module 'no_such_module_of_a_test' cannot be imported by this Python",
        f"{factory}:missing": f"{factory}:missing: module '{factory}' has no attribute 'missing'",
        f"{factory}:number": "is a int; expected a function that returns an nn.Module",
        f"{factory}:make_nothing": "returned a str; expected an nn.Module, or an nn.Module and its inputs",
    }
    for source, message in wrong.items():
        with pytest.raises(ValueError, match=message):
            export(source, tmp_path)


def test_folders_without_a_model_are_told(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty: has no config.json, so it is not the folder of a Hugging Face model"):
        export(tmp_path / "empty", tmp_path)


def test_code_of_a_model_runs_only_if_it_is_trusted(tmp_path, monkeypatch):
    monkeypatch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "cache"))
    folder = live_models.own_code(tmp_path / "own")
    with pytest.raises(ValueError, match="contains code; review it, then pass --trust-remote-code to run it"):
        export(folder, tmp_path)
    assert not (tmp_path / "cache").exists(), "nothing was loaded"
    assert export(folder, tmp_path, trust_remote_code=True, inputs=["x:[2,8]"]) == {"x": [2, 8]}
