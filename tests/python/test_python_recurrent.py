"""Recurrent layers at other batches and lengths than those that they were captured with, against eager PyTorch."""

import json
import os
import sys
import threading
from contextlib import nullcontext

import numpy as np
import onnx
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils import _pytree

import modelexport
import support
from exported import Exported, all_nodes

# Batch and length; what is captured comes first, one step is the shortest sequence that PyTorch takes.
SIZES = [(2, 7), (1, 1), (3, 11), (5, 2), (1, 30)]
LAYERS = {"LSTM": nn.LSTM, "GRU": nn.GRU, "RNN": nn.RNN}
OPSETS = (14, 17, 20, 24)
DYNAMIC = torch.export.Dim.DYNAMIC


class Layer(nn.Module):
    """A recurrent layer over 6 numbers a step, with states that are given or not."""

    def __init__(self, kind: str, is_given: bool, **options):
        super().__init__()
        self.layer = LAYERS[kind](6, 5, **options)
        self.is_given = is_given

    def forward(self, x, state=None):
        return self.layer(x, state)

    def inputs(self, batch: int, length: int) -> tuple:
        layer = self.layer
        x = torch.randn(batch, length, 6) if layer.batch_first else torch.randn(length, batch, 6)
        if not self.is_given:
            return (x,)
        count = layer.num_layers * (2 if layer.bidirectional else 1)
        hidden = torch.randn(count, batch, layer.proj_size or 5)
        return x, (hidden, torch.randn(count, batch, 5)) if layer.mode == "LSTM" else hidden

    def dynamic_shapes(self) -> tuple:
        axes = ("batch", "length") if self.layer.batch_first else ("length", "batch")
        state = {1: "batch"}
        shapes = (dict(enumerate(axes)), (state, state) if self.layer.mode == "LSTM" else state)
        return shapes if self.is_given else shapes[:1]


def seeded(make):
    torch.manual_seed(0)
    return make().eval()


def assert_equal_to_eager(path, model: nn.Module, calls, dtype: str = "float32") -> None:
    exported = Exported(path)
    exported.assert_accepted()
    for call in calls:
        with torch.no_grad():
            wanted = [leaf.numpy() for leaf in _pytree.tree_leaves(model(*call))]
        got = exported.run([leaf.numpy() for leaf in _pytree.tree_leaves(call)])
        support.assert_all_close(got, wanted, [dtype] * len(wanted))


def operators(path) -> list[str]:
    return [node.op_type for node in onnx.load(path).graph.node]


@pytest.mark.parametrize("is_given", [False, True], ids=["", "given"])
@pytest.mark.parametrize("batch_first", [False, True], ids=["time_first", "batch_first"])
@pytest.mark.parametrize("bidirectional", [False, True], ids=["one_way", "both_ways"])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("kind", LAYERS)
def test_layers_run_at_other_batches_and_lengths(kind, layers, bidirectional, batch_first, is_given, tmp_path):
    options = {"num_layers": layers, "bidirectional": bidirectional, "batch_first": batch_first}
    model = seeded(lambda: Layer(kind, is_given, bias=layers != 3, dropout=0.5 if layers > 1 else 0.0, **options))
    opset = OPSETS[(layers + batch_first + 2 * bidirectional) % len(OPSETS)]
    path = tmp_path / "m.onnx"
    modelexport.export(model, model.inputs(*SIZES[0]), path, dynamic_shapes=model.dynamic_shapes(), opset_version=opset)
    assert_equal_to_eager(path, model, [model.inputs(*size) for size in SIZES])
    assert operators(path).count(kind) == layers
    dimensions = onnx.load(path).graph.output[0].type.tensor_type.shape.dim
    assert {dimension.dim_param for dimension in dimensions} == {"batch", "length", ""}


@pytest.mark.parametrize("is_given", [False, True], ids=["", "given"])
@pytest.mark.parametrize("bidirectional", [False, True], ids=["one_way", "both_ways"])
@pytest.mark.parametrize("layers", [1, 3])
def test_projected_states_run_at_other_batches_and_lengths(layers, bidirectional, is_given, tmp_path):
    options = {"num_layers": layers, "bidirectional": bidirectional, "proj_size": 3, "batch_first": layers == 3}
    model = seeded(lambda: Layer("LSTM", is_given, bias=not is_given, **options))
    path = tmp_path / "m.onnx"
    for opset in (14, 24):
        inputs = model.inputs(*SIZES[0])
        modelexport.export(model, inputs, path, dynamic_shapes=model.dynamic_shapes(), opset_version=opset)
        assert_equal_to_eager(path, model, [model.inputs(*size) for size in SIZES])
    assert operators(path).count("Scan") == layers * (2 if bidirectional else 1)
    Exported(path).assert_tagged()


@pytest.mark.parametrize("opset, strict", [*((opset, False) for opset in range(14, 25)), (20, True)])
def test_a_layer_at_every_opset_and_captured_strictly(opset, strict, tmp_path):
    model = seeded(lambda: Layer("LSTM", True, num_layers=2, bidirectional=True, batch_first=True))
    options = {"dynamic_shapes": model.dynamic_shapes(), "opset_version": opset, "strict": strict}
    modelexport.export(model, model.inputs(*SIZES[0]), tmp_path / "m.onnx", **options)
    assert_equal_to_eager(tmp_path / "m.onnx", model, [model.inputs(*size) for size in SIZES[:3]])


def test_a_layer_without_given_states_needs_no_more_nodes_than_with_fixed_sizes(tmp_path):
    model = seeded(lambda: Layer("LSTM", False, num_layers=2, batch_first=True))
    modelexport.export(model, model.inputs(*SIZES[0]), tmp_path / "fixed.onnx")
    modelexport.export(model, model.inputs(*SIZES[0]), tmp_path / "any.onnx", dynamic_shapes=model.dynamic_shapes())
    assert operators(tmp_path / "any.onnx") == operators(tmp_path / "fixed.onnx")


@pytest.mark.parametrize("kind", LAYERS)
def test_one_sequence_without_a_batch(kind, tmp_path):
    model = seeded(lambda: Layer(kind, False, num_layers=2, bidirectional=True))
    modelexport.export(model, torch.randn(7, 6), tmp_path / "m.onnx", dynamic_shapes=({0: "length"},))
    assert_equal_to_eager(tmp_path / "m.onnx", model, [(torch.randn(length, 6),) for length in (7, 1, 20)])


def test_relu_and_16_bits(tmp_path):
    relu = seeded(lambda: Layer("RNN", True, nonlinearity="relu", bidirectional=True))
    modelexport.export(relu, relu.inputs(2, 7), tmp_path / "relu.onnx", dynamic_shapes=relu.dynamic_shapes())
    assert_equal_to_eager(tmp_path / "relu.onnx", relu, [relu.inputs(*size) for size in SIZES])
    for options in ({}, {"proj_size": 3}):
        half = seeded(lambda options=options: Layer("LSTM", False, batch_first=True, **options)).half()
        calls = [tuple(tensor.half() for tensor in half.inputs(*size)) for size in SIZES]
        modelexport.export(half, calls[0], tmp_path / "half.onnx", dynamic_shapes=half.dynamic_shapes())
        assert_equal_to_eager(tmp_path / "half.onnx", half, calls, "float16")


class Translator(nn.Module):
    """An encoder that reads tokens, and a decoder of another length that starts from its last states."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 6)
        self.encoder = nn.LSTM(6, 5, 2, batch_first=True)
        self.decoder = nn.LSTM(6, 5, 2, batch_first=True, dropout=0.3)
        self.summary = nn.GRU(5, 4, bidirectional=True, batch_first=True)
        self.head = nn.Linear(8, 20)

    def forward(self, source, target):
        _, state = self.encoder(self.words(source))
        hidden, state = self.decoder(self.words(target), state)
        hidden, last = self.summary(hidden)
        return self.head(hidden).softmax(-1), last, *state


def test_an_encoder_and_a_decoder_of_other_lengths_keep_their_modules(tmp_path):
    model = seeded(Translator)
    shapes = {"source": {0: "batch", 1: "read"}, "target": {0: "batch", 1: "written"}}

    def tokens(batch, read, written):
        return torch.randint(20, (batch, read)), torch.randint(20, (batch, written))

    result = modelexport.export(model, tokens(2, 5, 4), tmp_path / "m.onnx", dynamic_shapes=shapes, modules="all")
    assert_equal_to_eager(result.path, model, [tokens(2, 5, 4), tokens(3, 9, 2), tokens(1, 1, 12)])
    exported = Exported(result.path)
    exported.assert_tagged()
    module_of = {node["name"]: node["module"] for node in exported.sidecar["nodes"]}
    recurrent = [node for node in all_nodes(exported.model.graph) if node.op_type in LAYERS]
    assert [module_of[node.name] for node in recurrent] == ["encoder"] * 2 + ["decoder"] * 2 + ["summary"]
    assert json.loads(recurrent[-1].doc_string)["hierarchy_path"] == "/Translator/GRU"


def test_an_archive_of_ones_own_capture(tmp_path):
    """Live and through an archive the same file, apart from the names of dimensions."""
    model = seeded(lambda: Layer("GRU", False, num_layers=2, batch_first=True))
    inputs, shapes = model.inputs(*SIZES[0]), ({0: DYNAMIC, 1: DYNAMIC},)
    with pytest.raises(Exception, match="specialized it to be a constant"):
        torch.export.export(model, inputs, dynamic_shapes=shapes)
    with modelexport.dynamic_recurrence():
        program = torch.export.export(model, inputs, dynamic_shapes=shapes)
    torch.export.save(program, tmp_path / "m.pt2")
    archived = Exported.export(tmp_path / "m.pt2", tmp_path / "archived.onnx")
    assert_equal_to_eager(archived.path, model, [model.inputs(*size) for size in SIZES])
    live = modelexport.export(program, f=tmp_path / "live.onnx")
    assert live.path.read_bytes() == archived.path.read_bytes()
    again = torch.export.load(tmp_path / "m.pt2").module()
    x = model.inputs(3, 11)
    assert torch.equal(again(*x)[0], model(*x)[0])


@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "num_layers": 2}, {"batch_first": True}])
@pytest.mark.parametrize("kind", LAYERS)
def test_shapes_and_strides_are_those_of_torchs_own_capture(kind, options):
    model = seeded(lambda: Layer(kind, False, **options))

    def results(context) -> list:
        with context:
            program = torch.export.export(model, model.inputs(*SIZES[0]))
        (output,) = (node for node in program.graph.nodes if node.op == "output")
        metas = [node.meta["val"] for node in output.args[0]]
        return [(meta.shape, meta.stride(), meta.dtype, meta.requires_grad) for meta in metas]

    assert results(modelexport.dynamic_recurrence()) == results(nullcontext())


OPERATORS = [
    *(
        overload
        for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")
        for overload in (getattr(torch.ops.aten, name).input, getattr(torch.ops.aten, name).data)
    ),
    torch.ops.aten._pack_padded_sequence.default,
]


@pytest.mark.parametrize("ends", ["well", "in_an_error"])
def test_torch_is_left_as_it_was(ends):
    before = [dict(operator.py_kernels) for operator in OPERATORS]
    try:
        with modelexport.dynamic_recurrence():
            assert [dict(operator.py_kernels) for operator in OPERATORS] != before
            # One inside another, as in an export in the context.
            with modelexport.dynamic_recurrence():
                pass
            model = Layer("LSTM", False)
            program = torch.export.export(model.eval(), model.inputs(2, 7), dynamic_shapes=({0: DYNAMIC},))
            assert program.module()(*model.inputs(2, 9))[0].shape == (9, 2, 5)
            if ends == "in_an_error":
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert [dict(operator.py_kernels) for operator in OPERATORS] == before
    with pytest.raises(Exception, match="specialized it to be a constant"):
        torch.export.export(model.eval(), model.inputs(2, 7), dynamic_shapes=({0: DYNAMIC},))


def test_values_are_computed_in_the_context_and_other_threads_do_as_before():
    model = seeded(lambda: Layer("LSTM", False))
    x = model.inputs(2, 7)
    wanted, seen = model(*x)[0], []

    def other():
        try:
            torch.export.export(model, x, dynamic_shapes=({0: DYNAMIC},))
        except Exception as error:  # noqa: BLE001 (told below)
            seen.append(str(error))

    with modelexport.dynamic_recurrence():
        assert torch.equal(model(*x)[0], wanted)
        with torch._dispatch.python.enable_python_dispatcher():
            assert torch.allclose(model(*x)[0], wanted)
            lengths = torch.tensor([7, 4])
            assert pack_padded_sequence(x[0], lengths).batch_sizes.tolist() == [2, 2, 2, 2, 1, 1, 1]
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert "specialized it to be a constant" in seen[0]


class Packed(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layer = LAYERS[kind](6, 5, batch_first=True)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.layer(packed)[0], batch_first=True)[0]


@pytest.mark.parametrize("kind", LAYERS)
def test_packed_sequences_are_refused_with_what_to_do(kind, tmp_path):
    inputs = (torch.randn(3, 7, 6), torch.tensor([7, 4, 5]))
    with pytest.raises(modelexport.ExportError) as caught:
        modelexport.export(Packed(kind).eval(), inputs, tmp_path / "m.onnx")
    assert str(caught.value) == (
        "packed sequences (pack_padded_sequence) cannot be captured: their sizes depend on the values of the lengths. "
        "Give the recurrent layer the tensor itself: sequences of one length need no packing. With padding behind the end, "
        "a layer of one direction gives the same up to each end, and `gather` takes the last step; a second direction would "
        "read the padding first, so give it sequences of one length."
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", LAYERS)
def test_sequences_without_steps_are_refused_as_by_pytorch(kind, tmp_path):
    model = seeded(lambda: Layer(kind, False))
    message = "Expected sequence length to be larger than 0 in RNN"
    with pytest.raises(RuntimeError, match=message):
        model(torch.randn(0, 2, 6))
    with pytest.raises(RuntimeError, match=message):
        modelexport.export(model, torch.randn(0, 2, 6), tmp_path / "m.onnx")


class OwnLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(6, 5)

    def forward(self, x):
        state = x.new_zeros(x.shape[0], 5)
        for step in range(x.shape[1]):
            state = self.cell(x[:, step], state)
        return state


@pytest.mark.parametrize(
    "axis, batch, note",
    [
        (1, 2, "in a Python loop over it"),
        (0, 1, "capture with an example that has at least two elements along each dynamic dimension"),
    ],
)
@pytest.mark.parametrize("size", ["name", torch.export.Dim("name")], ids=["name", "Dim"])
def test_other_sizes_that_torch_fixes_are_explained(axis, batch, note, size, tmp_path):
    with pytest.raises(Exception) as caught:  # noqa: PT011 (which exception torch raises is up to torch)
        modelexport.export(
            OwnLoop().eval(), torch.randn(batch, 4, 6), tmp_path / "m.onnx", dynamic_shapes=({axis: size},)
        )
    (said,) = caught.value.__notes__
    assert note in said


FACTORY = """
import torch

class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(9, 6)
        self.layer = torch.nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.head = torch.nn.Linear(10, 3)

    def forward(self, tokens):
        return self.head(self.layer(self.words(tokens))[0])

class Loop(torch.nn.Module):
    def forward(self, x):
        return sum(x[:, i] for i in range(x.shape[1]))

def tagger():
    torch.manual_seed(0)
    return Tagger().eval(), torch.tensor([[1, 2, 3]])

def loop():
    return Loop(), torch.randn(2, 3)
"""


def test_a_live_model_of_the_command_line(tmp_path):
    (tmp_path / "recurrent_of_mine.py").write_text(FACTORY)
    environment = {**os.environ, "PYTHONPATH": str(support.ROOT / "python"), "OMP_NUM_THREADS": "1"}
    options = {"env": environment, "cwd": tmp_path}
    python = ["--python", sys.executable]
    axes = '{"tokens": {"0": "batch", "1": "length"}}'
    support.modelexport(
        "export", "recurrent_of_mine:tagger", "-o", "m.onnx", "--dynamic-axes", axes, *python, **options
    )
    sys.path.insert(0, str(tmp_path))
    try:
        import recurrent_of_mine
    finally:
        sys.path.remove(str(tmp_path))
    model, _ = recurrent_of_mine.tagger()
    calls = [(torch.from_numpy(np.random.default_rng(0).integers(0, 9, size)),) for size in SIZES]
    assert_equal_to_eager(tmp_path / "m.onnx", model, calls)

    axes = '{"x": {"1": "length"}}'
    ended = support.modelexport(
        "export", "recurrent_of_mine:loop", "-o", "n.onnx", "--dynamic-axes", axes, *python, expect=2, **options
    )
    assert "specialized it to be a constant" in ended.stderr
    assert "in a Python loop over it" in ended.stderr
