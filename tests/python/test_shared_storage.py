"""Parameters, buffers and constants over one storage: what `forward` writes to one is read through the others as in
PyTorch, or the export is refused with the names of both."""

import math

import numpy as np
import onnxruntime
import pytest
import torch

import modelexport
import support
from modelexport.capture.tensor_meta import TensorMetas
from modelexport.capture.weights import Weights


class Sharing(torch.nn.Module):
    """A model whose tensors `make` gives by name and whose `forward` is `call`."""

    def __init__(self, make, call):
        super().__init__()
        self.call = call
        for name, tensor in make().items():
            kind, _, name = name.rpartition(":")
            if kind == "parameter":
                self.register_parameter(name, torch.nn.Parameter(tensor, requires_grad=False))
            elif kind == "constant":
                setattr(self, name, tensor)
            else:
                self.register_buffer(name, tensor, persistent=kind != "passing")

    def forward(self, x):
        return self.call(self, x)


def table(*shape):
    return torch.arange(float(math.prod(shape))).reshape(shape)


def parts(base, **made):
    """`whole` and what is made of it."""
    return lambda: (lambda whole: {"whole": whole} | {name: make(whole) for name, make in made.items()})(base.clone())


def changes_whole(self, x):
    before = self.part * 1
    self.whole.add_(x)
    return before, self.part * 2, self.whole * 1


def changes_part(self, x):
    before = self.whole * 1
    self.part.mul_(x + 3)
    return before, self.whole * 1, self.part - 1


VIEWS = {
    "tie": lambda whole: whole,
    "view": lambda whole: whole.view(24),
    "transpose": lambda whole: whole.t(),
    "row": lambda whole: whole[1],
    "rows": lambda whole: whole[1:3],
    "column": lambda whole: whole[:, 2],
    "columns": lambda whole: whole[:, 1:4],
    "steps": lambda whole: whole[::2, 1::2],
    "diagonal": lambda whole: whole.diagonal(),
    "element": lambda whole: whole[2, 3:4],
    "windows": lambda whole: whole.unfold(0, 2, 2),
}
MODELS = {
    f"{name}, {call.__name__}": (parts(table(4, 6), part=view), call)
    for name, view in VIEWS.items()
    for call in (changes_whole, changes_part)
}
MODELS["expanded, changes_whole"] = (parts(table(1, 6), part=lambda whole: whole.expand(4, 6)), changes_whole)
MODELS["windows that overlap"] = (parts(table(6, 2), part=lambda whole: whole.unfold(0, 3, 1)), changes_whole)
MODELS["large rows"] = (parts(table(64, 6, 32), part=lambda whole: whole[1:40]), changes_part)
MODELS["large columns"] = (parts(table(64, 6, 32), part=lambda whole: whole[:, 2]), changes_part)
MODELS["large transpose"] = (parts(table(128, 96), part=lambda whole: whole[1:].t()), changes_part)
MODELS["large columns, changes_whole"] = (parts(table(64, 6, 32), part=lambda whole: whole[3:, 2, 5:]), changes_whole)


def case(name, make):
    def add(call):
        MODELS[name] = (make, call)
        return call

    return add


@case("parts that overlap, without the whole", lambda: (lambda b: {"a": b[:3], "b": b[1:], "c": b[2].t()})(table(4, 6)))
def overlapping(self, x):
    self.a.add_(x)
    self.b[1:].mul_(2)
    return self.a * 1, self.b * 1, self.c * 1


@case("columns side by side", lambda: (lambda b: {"a": b[:, :2], "b": b[:, 2:]})(table(4, 6)))
def side_by_side(self, x):
    self.a.add_(x)
    return self.b * 1, self.a * 1


@case("parts that do not touch", lambda: (lambda b: {"a": b[:2], "b": b[2:]})(table(4, 6)))
def apart(self, x):
    self.a.add_(x)
    return self.b * 1, self.a * 1


@case("parameters", lambda: (lambda b: {"parameter:a": b, "parameter:b": b.t(), "whole": b})(table(4, 6)))
def parameters(self, x):
    product = x @ self.a
    self.a.add_(1)
    return product, x.sum() * self.b, self.whole * 1


@case("a row of an expanded buffer", parts(table(1, 6), part=lambda whole: whole.expand(4, 6)))
def row_of_expanded(self, x):
    self.part[2].add_(x)
    return self.whole * 1, self.part * 1


@case("views of views", parts(table(4, 6), left=lambda whole: whole[:, :3], turned=lambda whole: whole.t()))
def views_of_views(self, x):
    self.left[1:].zero_()
    self.turned[::2].add_(x)
    self.left[0, 1] = 7
    return self.left * 1, self.turned.reshape(4, 6) * 1, self.whole * 1


@case("copied from elsewhere", parts(table(2, 6), part=lambda whole: whole[1, ::2]))
def copied(self, x):
    self.whole.copy_(torch.cat([x, x + 1, x - 1]).reshape(3, 6)[1:])
    return self.part * 1


@case("a branch that reads", parts(table(4, 6), part=lambda whole: whole[1]))
def branch(self, x):
    self.whole.add_(x)
    return torch.cond(x.sum() > 0, lambda part: part * 2, lambda part: part - 1, (self.part,))


@case("a region without gradients", parts(table(4, 6), part=lambda whole: whole[1]))
def region(self, x):
    with torch.no_grad():
        self.whole.add_(x)
    with torch.enable_grad():
        return self.part * x


#: Models whose sharing an archive does not tell: its folders hold what is part of the state and what is not.
SPLIT = {
    "a buffer that is not saved": (parts(table(4, 6), **{"passing:part": lambda whole: whole[1]}), changes_whole),
    "a constant": (parts(table(4, 6), **{"constant:part": lambda whole: whole.t()}), changes_whole),
    "a change of what is not saved": (parts(table(4, 6), **{"passing:part": lambda whole: whole[1]}), changes_part),
}
CONSTANTS = {
    # torch.export reads one tensor under two names through one of them.
    "a tie that is not saved": (parts(table(4, 6), **{"passing:part": lambda whole: whole}), changes_whole),
    "constants": (
        lambda: (lambda b: {"constant:whole": b, "passing:part": b[1:, ::2]})(table(4, 6)),
        changes_part,
    ),
}
X = torch.tensor([1.0, -2.0, 3.0, 0.5, 0.25, 4.0])


def results(make, call):
    """A model and what PyTorch gives, which changes the model."""
    x = X[:4] if call is parameters else X[:1]
    if call in (branch, region, copied):
        x = X
    model = Sharing(make, call).eval()
    with torch.no_grad():
        # Not of a copy: copied parameters share nothing with buffers.
        wanted = Sharing(make, call).eval()(x)
    return model, x, wanted if isinstance(wanted, tuple) else (wanted,)


def check(path, x, wanted):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    got = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    assert len(got) == len(wanted)
    for have, want in zip(got, wanted, strict=True):
        np.testing.assert_allclose(have, want.numpy(), rtol=1e-6)


def export_archive(model, x, folder, expect=0):
    """What the command line says."""
    path = folder / "model.pt2"
    torch.export.save(torch.export.export(model, (x,)), path)
    return support.modelexport("export", path, "-o", folder / "archive.onnx", expect=expect).stderr


@pytest.mark.parametrize("name", [*MODELS, *CONSTANTS])
def test_what_is_written_is_read_through_all_names(name, tmp_path):
    model, x, wanted = results(*(MODELS | CONSTANTS)[name])
    modelexport.export(model, (x,), tmp_path / "live.onnx")
    check(tmp_path / "live.onnx", x, wanted)
    export_archive(model, x, tmp_path)
    check(tmp_path / "archive.onnx", x, wanted)


@pytest.mark.parametrize("name", SPLIT)
def test_a_live_model_knows_what_an_archive_does_not_tell(name, tmp_path):
    model, x, wanted = results(*SPLIT[name])
    modelexport.export(model, (x,), tmp_path / "model.onnx")
    check(tmp_path / "model.onnx", x, wanted)
    refusal = export_archive(model, x, tmp_path, expect=2)
    assert all(name in refusal for name in ("`whole`", "`part`")), refusal


def changes_numbers(self, x):
    self.whole.add_(x)
    return self.part + 1


TYPES = {
    "another type": (parts(table(4), part=lambda whole: whole.view(torch.int32)), changes_numbers),
    "a type of another width": (parts(table(4), part=lambda whole: whole.view(torch.uint8)), changes_numbers),
    "complex numbers": (
        parts(table(4, 2), part=lambda whole: torch.view_as_complex(whole)),
        lambda self, x: (self.whole.add_(x), torch.view_as_real(self.part * 2))[1],
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_memory_of_two_types_is_refused_with_both_names(name, tmp_path):
    model, x, _ = results(*TYPES[name])
    with pytest.raises(modelexport.ExportError, match=r"`whole`.*`part`"):
        modelexport.export(model, (x,), tmp_path / "model.onnx")
    refusal = export_archive(model, x, tmp_path, expect=2)
    assert all(name in refusal for name in ("`whole`", "`part`")), refusal


def test_memory_of_two_types_that_is_only_read_is_exported(tmp_path):
    model, x, wanted = results(TYPES["another type"][0], lambda self, x: (self.whole * x, self.part + 1))
    modelexport.export(model, (x,), tmp_path / "model.onnx")
    check(tmp_path / "model.onnx", x, wanted)


def test_tensors_of_another_device_still_share_memory():
    """The processor's own memory stands in for the device."""
    weights = Weights(TensorMetas())
    whole = table(4, 6)
    copies = [weights.in_memory(tensor) for tensor in (whole, whole[1:].t())]
    assert [tensor.tolist() for tensor in copies] == [whole.tolist(), whole[1:].t().tolist()]
    copies[0].zero_()
    assert not copies[1].any()


class Inputs(torch.nn.Module):
    """Changes its first input, or nothing."""

    def __init__(self, changes):
        super().__init__()
        self.weight = torch.nn.Parameter(table(2, 3), requires_grad=False)
        self.changes = changes

    def forward(self, x, y):
        return (x.add_(1) if self.changes else x + 1) + self.weight, y * 2


@pytest.mark.parametrize(
    "inputs", [lambda x, _: (x, x), lambda x, _: (x, x[0]), lambda x, _: (x.view(2, 3), x.t()), lambda x, w: (w, x)]
)
def test_inputs_that_share_memory_are_apart_and_refused_if_it_is_changed(inputs, tmp_path):
    model = Inputs(False)
    x, y = inputs(table(2, 3), model.weight.detach())
    modelexport.export(model, (x, y), tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    got = session.run(None, {"x": x.numpy(), "y": y.contiguous().numpy()})
    for have, want in zip(got, model(x, y), strict=True):
        np.testing.assert_allclose(have, want.numpy())
    model = Inputs(True)
    with pytest.raises(modelexport.ExportError, match="share memory, and node `add_`"):
        modelexport.export(model, inputs(table(2, 3), model.weight.detach()), tmp_path / "other.onnx")


def test_inputs_of_their_own_may_be_changed(tmp_path):
    x, y = table(2, 3), table(3)
    wanted = Inputs(True)(x.clone(), y)
    modelexport.export(Inputs(True), (x, y), tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    got = session.run(None, {"x": x.numpy(), "y": y.numpy()})
    for have, want in zip(got, wanted, strict=True):
        np.testing.assert_allclose(have, want.numpy())
