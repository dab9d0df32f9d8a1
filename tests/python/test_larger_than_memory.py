"""Models on the meta device from Python: parameters without memory, weights in safetensors shards."""

import json

import numpy
import onnxruntime
import pytest
import torch
from safetensors.torch import save_file

import modelexport
import support


def save_sharded(tensors: dict, folder, shards: int) -> None:
    """Several files with an index, as Hugging Face lays them out."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(tensors)
    weight_map = {}
    for i in range(shards):
        file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
        members = names[i::shards]
        save_file({name: tensors[name].contiguous() for name in members}, folder / file)
        weight_map |= dict.fromkeys(members, file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))


def small_llama(folder, dtype):
    """A Hugging Face folder with its configuration and three shards; the model with all its weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=96,
        tie_word_embeddings=True,
        use_cache=False,
    )
    model = LlamaForCausalLM(config).to(dtype).eval()
    tensors = {name: tensor for name, tensor in model.state_dict().items() if name != "lm_head.weight"}
    save_sharded(tensors, folder, 3)
    config.architectures = ["LlamaForCausalLM"]
    config.dtype = dtype
    config.save_pretrained(folder)
    return model


def run(path, tokens) -> numpy.ndarray:
    session = onnxruntime.InferenceSession(str(path))
    return session.run(None, {session.get_inputs()[0].name: tokens.numpy()})[0]


def test_a_model_on_meta_runs_from_its_shards_with_the_numbers_of_pytorch(tmp_path):
    expected_model = small_llama(tmp_path, torch.float32)
    model = modelexport.meta_model(tmp_path)
    assert all(parameter.is_meta for parameter in model.parameters())
    assert not any(buffer.is_meta for buffer in model.buffers())
    tokens = torch.randint(0, 96, (1, 7))
    result = modelexport.export(model, (tokens,), tmp_path / "model.onnx", weights_from=tmp_path)
    with torch.no_grad():
        expected = expected_model(tokens).logits.numpy()
    numpy.testing.assert_allclose(run(result.path, tokens), expected, rtol=1e-4, atol=1e-5)
    assert all(parameter.is_meta for parameter in model.parameters()), "the model is as it was"
    listed = modelexport.weights(result.path)
    locations = {weight["location"] for weight in listed["weights"] if weight["location"]}
    assert listed["fine"]
    assert locations == {f"model-{i}-of-00003.safetensors" for i in ["00001", "00002", "00003"]}
    assert (tmp_path / "model.onnx").stat().st_size < 200_000


def test_shards_of_bfloat16_are_taken_as_they_are(tmp_path):
    expected_model = small_llama(tmp_path, torch.bfloat16)
    model = modelexport.meta_model(tmp_path)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.bfloat16}
    tokens = torch.ones(1, 5, dtype=torch.long)
    modelexport.export(model, (tokens,), tmp_path / "model.onnx", weights_from=tmp_path)
    import onnx

    onnx.checker.check_model(str(tmp_path / "model.onnx"))
    loaded = onnx.load(tmp_path / "model.onnx")
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in loaded.graph.initializer}
    name = "model.layers.1.mlp.down_proj.weight"
    wanted = expected_model.state_dict()[name].float().numpy()
    assert numpy.array_equal(stored[name].astype(numpy.float32), wanted), "not transposed: the bytes are the file's"


def test_the_command_line_takes_the_same_program_from_an_archive(tmp_path):
    """Tables in the archive are copied, so that it need not lie beside the model."""
    hub = tmp_path / "hub"
    expected_model = small_llama(hub, torch.float32)
    tokens = torch.randint(0, 96, (1, 7))
    with torch.no_grad():
        program = torch.export.export(modelexport.meta_model(hub), (tokens.to("meta"),), strict=False)
        expected = expected_model(tokens).logits.numpy()
    (tmp_path / "elsewhere").mkdir()
    torch.export.save(program, tmp_path / "elsewhere" / "meta.pt2")
    arguments = ["export", tmp_path / "elsewhere" / "meta.pt2", "-o", hub / "model.onnx", "--weights-from", hub]
    support.modelexport(*arguments)
    numpy.testing.assert_allclose(run(hub / "model.onnx", tokens), expected, rtol=1e-4, atol=1e-5)


class Tables(torch.nn.Module):
    """A buffer that is trained, one that is not saved, a weight read transposed, a constant made in forward."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(600)
        self.inner = torch.nn.Linear(600, 8)
        self.register_buffer("table", torch.arange(600.0), persistent=False)

    def forward(self, x):
        return self.inner(self.norm(x) + self.table) + torch.arange(8) + torch.tensor([0.5] * 8)


@pytest.fixture
def tables(tmp_path):
    torch.manual_seed(0)
    trained = Tables()
    trained(torch.randn(64, 600) * 3 + 1)
    trained.eval()
    save_sharded(trained.state_dict(), tmp_path / "hub", 2)
    x = torch.randn(2, 600)
    with torch.no_grad():
        return tmp_path, x, trained(x).numpy()


@pytest.mark.parametrize("weights", [None, "embed", "external", "reference"])
def test_buffers_are_those_of_the_files_or_of_the_capture(tables, weights):
    folder, x, expected = tables
    with modelexport.parameters_on_meta():
        model = Tables().eval()
    target = folder / "model.onnx"
    modelexport.export(model, (x,), target, weights_from=folder / "hub", weights=weights)
    numpy.testing.assert_allclose(run(target, x), expected, rtol=1e-4, atol=1e-4)


def test_inputs_may_be_on_meta_too(tables):
    folder, x, expected = tables
    with modelexport.parameters_on_meta():
        model = Tables().eval()
    target = folder / "model.onnx"
    modelexport.export(model, (torch.empty(2, 600, device="meta"),), target, weights_from=folder / "hub")
    numpy.testing.assert_allclose(run(target, x), expected, rtol=1e-4, atol=1e-4)


def test_a_table_without_contents_is_named(tables):
    folder, x, _ = tables
    with torch.device("meta"):
        model = Tables().eval()
    with pytest.raises(ValueError, match=r"1 weight differ.*\n  table: is not saved with the model and was captured"):
        modelexport.export(model, (x,), folder / "model.onnx", weights_from=folder / "hub")
    assert not (folder / "model.onnx").exists()


def test_without_files_the_weights_are_missed(tables):
    folder, x, _ = tables
    with modelexport.parameters_on_meta():
        model = Tables().eval()
    with pytest.raises(ValueError, match="have no data"):
        modelexport.export(model, (x,), folder / "model.onnx")


def test_a_folder_without_configuration_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"has no config.json"):
        modelexport.meta_model(tmp_path)


def test_code_of_the_folder_is_not_run_unless_asked(tmp_path):
    small_llama(tmp_path, torch.float32)
    config = json.loads((tmp_path / "config.json").read_text())
    config["auto_map"] = {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"}
    (tmp_path / "evil.py").write_text("raise SystemExit('ran')\n")

    def build(changes):
        (tmp_path / "config.json").write_text(json.dumps(config | changes))
        return modelexport.meta_model(tmp_path)

    # transformers has a class of that name, and it is taken from there.
    assert type(build({})).__module__.startswith("transformers.")
    for changes in [{"architectures": ["Evil"]}, {"model_type": "evil"}]:
        with pytest.raises(ValueError, match="contains code; review it, then pass --trust-remote-code to run it"):
            build(changes)
