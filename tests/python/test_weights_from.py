"""A program of the meta device takes its weights from safetensors shards; `weights` lists and moves them."""

import json

import numpy
import onnx
import onnxruntime
import pytest
import torch
from safetensors.torch import save_file

import support


class Model(torch.nn.Module):
    """A tied head, a weight that is read transposed, a norm whose weights are small."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(64, 32)
        self.norm = torch.nn.LayerNorm(32)
        self.inner = torch.nn.Linear(32, 48)
        self.outer = torch.nn.Linear(48, 32, bias=False)
        self.head = torch.nn.Linear(32, 64, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        hidden = self.norm(self.embed(tokens))
        return self.head(hidden + self.outer(torch.relu(self.inner(hidden))))


@pytest.fixture
def checkpoint(tmp_path):
    """A capture without weights, and two shards with an index, under names with a prefix; the head is left out."""
    torch.manual_seed(0)
    model = Model().eval()
    with torch.device("meta"):
        program = torch.export.export(Model().eval(), (torch.zeros(2, 5, dtype=torch.long),))
    torch.export.save(program, tmp_path / "meta.pt2")
    hub = tmp_path / "hub"
    hub.mkdir()
    tensors = {f"model.{name}": value for name, value in model.state_dict().items() if name != "head.weight"}
    names = sorted(tensors)
    shards = {"one.safetensors": names[:3], "two.safetensors": names[3:]}
    for file, members in shards.items():
        save_file({name: tensors[name].contiguous() for name in members}, hub / file)
    weight_map = {name: file for file, members in shards.items() for name in members}
    (hub / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    tokens = torch.randint(0, 64, (2, 5))
    with torch.no_grad():
        return tmp_path, tokens.numpy(), model(tokens).numpy()


def run(path, tokens):
    session = onnxruntime.InferenceSession(str(path))
    return session.run(None, {session.get_inputs()[0].name: tokens})[0]


def test_onnxruntime_reads_from_the_shards(checkpoint):
    folder, tokens, expected = checkpoint
    target = folder / "model.onnx"
    done = support.modelexport("export", folder / "meta.pt2", "-o", target, "--weights-from", folder / "hub")
    assert "head.weight" in done.stderr
    assert "model.embed.weight" in done.stderr
    assert not (folder / "model.onnx.data").exists()
    onnx.checker.check_model(str(target))
    numpy.testing.assert_allclose(run(target, tokens), expected, rtol=1e-5, atol=1e-5)
    listed = json.loads(support.modelexport("weights", target, "--format", "json").stdout)
    locations = {weight["location"] for weight in listed["weights"] if weight["location"]}
    assert listed["fine"]
    assert locations == {"hub/one.safetensors", "hub/two.safetensors"}


def test_weights_move_between_all_forms(checkpoint):
    folder, tokens, expected = checkpoint
    source = folder / "model.onnx"
    support.modelexport("export", folder / "meta.pt2", "-o", source, "--weights-from", folder / "hub")
    steps = [
        (["--embed"], "embedded.onnx"),
        (["--external"], "external.onnx"),
        (["--reference", folder / "hub"], "back.onnx"),
    ]
    for options, name in steps:
        support.modelexport("weights", source, *options, "-o", folder / name)
        source = folder / name
        numpy.testing.assert_allclose(run(source, tokens), expected, rtol=1e-5, atol=1e-5)
    assert (folder / "external.onnx.data").exists()
    assert not (folder / "back.onnx.data").exists()
    assert (folder / "back.onnx").stat().st_size < (folder / "embedded.onnx").stat().st_size


def test_a_weight_that_was_cut_off_is_a_finding(checkpoint):
    folder, _, _ = checkpoint
    target = folder / "model.onnx"
    support.modelexport("export", folder / "meta.pt2", "-o", target, "--weights-from", folder / "hub")
    shard = folder / "hub" / "two.safetensors"
    shard.write_bytes(shard.read_bytes()[:-100])
    done = support.modelexport("weights", target, expect=1)
    assert "1 with a problem" in done.stdout


def test_all_that_does_not_fit_is_reported_at_once(checkpoint):
    folder, _, _ = checkpoint
    other = folder / "other"
    other.mkdir()
    save_file(
        {
            "embed.weight": torch.zeros(64, 32),
            "norm.weight": torch.zeros(31),
            "norm.bias": torch.zeros(32, dtype=torch.float16),
            "outer.weight": torch.zeros(32, 48),
        },
        other / "model.safetensors",
    )
    options = ["-o", folder / "model.onnx", "--weights-from", other]
    done = support.modelexport("export", folder / "meta.pt2", *options, expect=2)
    for line in [
        "norm.weight: has shape [31] in the files, expected [32]",
        "norm.bias: has type float16 in the files, expected float32",
        "inner.weight: is in none of the files",
        "inner.bias: is in none of the files",
    ]:
        assert line in done.stderr
    assert not (folder / "model.onnx").exists()
