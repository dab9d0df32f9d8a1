"""Operators without a row: torch decomposes them for live models; for archives the report names the call."""

import re
import warnings

import numpy as np
import onnx
import pytest
import torch
from torch import nn

import decompositions
import library_ops  # noqa: F401 (its operators)
import modelexport
import support
from exported import Exported
from modelexport import _native

mine = torch.ops.mine


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 4))

    def forward(self, x):
        return mine.block(x, self.weight)


class Model(nn.Module):
    """Operators that have rows around one that has none."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.layer = Layer()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.conv = nn.Conv2d(1, 2, 3, padding=1)
        self.bn = nn.BatchNorm2d(2)

    def forward(self, x):
        y = self.norm(x)
        z = self.layer(y)
        w = self.bn(self.conv(nn.functional.gelu(z)[:, None]))
        return nn.functional.scaled_dot_product_attention(z, y, x) + w.sum(1), y.relu_()


class Calls(nn.Module):
    def __init__(self, forward):
        super().__init__()
        self.function = forward

    def forward(self, *args):
        return self.function(*args)


def x_of(rows: int = 3) -> torch.Tensor:
    return torch.randn(rows, 4, generator=torch.Generator().manual_seed(rows))


def assert_exported(model: nn.Module, x: torch.Tensor, path, *others: torch.Tensor, **options) -> Exported:
    """Exports, and compares with PyTorch for `x` and the others."""
    modelexport.export(model.eval(), (x.clone(),), path, **options)
    exported = Exported(path)
    exported.assert_accepted()
    for given in (x, *others):
        with torch.no_grad():
            want = model(given.clone())
        want = [value.float().numpy() for value in (want if isinstance(want, tuple) else (want,))]
        got = [value.astype(np.float32) for value in exported.run([given.numpy()])]
        support.assert_all_close(got, want, ["float32"] * len(want))
    return exported


# ---- what becomes of a program


def test_only_what_has_no_row_is_decomposed_and_stays_in_its_module():
    captured = torch.export.export(Model().eval(), (torch.randn(3, 5, 4),))
    before = {node.name: (str(node.target), str(node.args), node.meta["nn_module_stack"]) for node in calls(captured)}
    made = modelexport.decompose(captured)
    after = {node.name: (str(node.target), str(node.args), node.meta["nn_module_stack"]) for node in calls(made)}
    assert before.pop("block")[0] == "mine.block.default"
    assert {name: after[name] for name in before} == before
    new = {name: after[name][0] for name in after if name not in before}
    # The last one has the name of what it replaces; none of them is decomposed further.
    assert list(new.values()) == [
        "aten.linear.default",
        "aten.layer_norm.default",
        "aten.gelu.default",
        "aten.mul.Tensor",
    ]
    assert list(new)[-1] == "block"
    for node in calls(made):
        if node.name in new:
            assert [path for path, _ in node.meta["nn_module_stack"].values()] == ["", "layer"]
            assert "mine.block(x, self.weight)" in node.meta["stack_trace"]
    assert [str(node.target) for node in calls(captured)].count("mine.block.default") == 1


def test_a_program_with_nothing_to_decompose_is_given_back():
    captured = torch.export.export(nn.Linear(4, 4), (x_of(),))
    assert modelexport.decompose(captured) is captured
    with pytest.raises(TypeError, match="program: expected an ExportedProgram, not Linear"):
        modelexport.decompose(nn.Linear(4, 4))


def calls(program: torch.export.ExportedProgram) -> list[torch.fx.Node]:
    return [node for node in program.graph.nodes if node.op == "call_function"]


# ---- live models


def test_a_live_model_is_exported_as_eager_computes_it(tmp_path):
    x, other = torch.randn(3, 5, 4), torch.randn(2, 5, 4)
    exported = assert_exported(Model(), x, tmp_path / "m.onnx", other, dynamic_shapes=({0: "batch"},))
    exported.assert_tagged()
    tags = {(node["source"], node["path"]) for node in exported.sidecar["nodes"] if node["module"] == "layer"}
    assert tags == {(source, "/Model/Layer") for source in ("linear", "layer_norm_1", "gelu_1", "block")}
    # Whole operators are whole: as many nodes as if the model had called them itself.
    plain = Model()
    plain.layer.forward = lambda y: nn.functional.gelu(nn.functional.layer_norm(y @ plain.layer.weight.T, (4,))) * 2
    ours = assert_exported(plain, x, tmp_path / "plain.onnx", other, dynamic_shapes=({0: "batch"},))
    assert sorted(node.op_type for node in exported.model.graph.node) == sorted(
        node.op_type for node in ours.model.graph.node
    )


KINDS = pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda x: mine.halves(x), id="several results"),
        pytest.param(lambda x: (mine.halves(x)[1], x + 1), id="one of several results"),
        pytest.param(lambda x: mine.with_constant(x), id="a constant"),
        pytest.param(lambda x: (mine.itself(x), x + 1), id="its input"),
        pytest.param(
            lambda x: (mine.rows(x + 1, x.shape[0] * 2, x), mine.rows(x, 3, x)), id="a size, and what is not read"
        ),
        pytest.param(lambda x: x + mine.table(4), id="without tensors"),
        pytest.param(lambda x: (mine.check(x), x + 1)[1], id="without results"),
        pytest.param(
            lambda x: torch.cond(x.sum() > 0, lambda a: mine.inner(a), lambda a: a + 1, (x,)), id="in a branch"
        ),
        pytest.param(lambda x: (mine.bump_(x + 0, 2.0).add_(1), mine.bump(x, 3.0)), id="in place"),
        pytest.param(lambda x: torch.atan(x + 2, out=torch.empty_like(x)), id="out"),
        pytest.param(lambda x: mine.twice_(x + 1), id="in place without another form"),
    ],
)


@KINDS
def test_kinds_of_calls(function, tmp_path):
    assert_exported(Calls(function), x_of(), tmp_path / "m.onnx", x_of(5), dynamic_shapes=(({0: "batch"},),))


@KINDS
def test_a_decomposed_program_can_be_saved_and_gives_the_file_of_the_live_model(function, tmp_path):
    # As a program: an archive has no module calls inside branches, a capture of the model has.
    program = torch.export.export(Calls(function), (x_of(),))
    modelexport.export(program, f=tmp_path / "live.onnx")
    torch.export.save(modelexport.decompose(program), tmp_path / "m.pt2")
    Exported.export(tmp_path / "m.pt2", tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == (tmp_path / "live.onnx").read_bytes()


def test_what_is_written_in_place_is_seen_through_other_names(tmp_path):
    def forward(x):
        whole = x * 2
        part = mine.bump_(whole[:2], 3.0)
        same = mine.itself(whole)
        same += 1
        return whole, part

    assert_exported(Calls(forward), x_of(), tmp_path / "m.onnx")


def test_a_result_that_a_decomposition_shares_with_an_input_gets_memory_of_its_own(monkeypatch):
    captured = torch.export.export(Calls(lambda x: mine.plain(x)), (x_of(),))
    monkeypatch.setitem(torch._decomp.decomposition_table, mine.plain.default, lambda x: x)
    assert [str(node.target) for node in calls(modelexport.decompose(captured))] == ["aten.clone.default"]


def test_regions_without_gradients_and_under_autocast(tmp_path):
    class Regions(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = Layer()

        def forward(self, x):
            with torch.no_grad():
                x = mine.inner(x)
            with torch.autocast("cpu", torch.bfloat16):
                return self.layer(x).float()

    torch.manual_seed(0)
    x = x_of()
    model = Regions().eval()
    captured = torch.export.export(model, (x,))
    made = modelexport.decompose(captured)
    assert not _native.missing_operators(sorted(decompositions.targets(made)), 20, None)
    torch.testing.assert_close(made.module()(x), captured.module()(x), rtol=0, atol=0)
    modelexport.export(model, x, tmp_path / "m.onnx")
    (got,) = Exported(tmp_path / "m.onnx").run([x.numpy()])
    support.assert_close(got, model(x).detach().numpy(), "bfloat16", "the output")
    with pytest.warns(UserWarning, match="mine.halves.default is not decomposed: torch's decomposition computes"):
        modelexport.decompose(torch.export.export(Calls(under_autocast), (x,)))


def under_autocast(x):
    with torch.autocast("cpu", torch.bfloat16):
        return mine.halves(x)[0]


def test_an_operator_that_a_rules_file_maps_is_left_alone(tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text('[[operator]]\ntarget = "mine.inner.default"\ndomain = "mine"\nop-type = "Inner"\n')
    modelexport.export(Calls(lambda x: mine.inner(x)), x_of(), tmp_path / "m.onnx", rules=rules)
    assert [node.op_type for node in onnx.load(tmp_path / "m.onnx").graph.node] == ["Inner"]
    captured = torch.export.export(Calls(lambda x: mine.inner(x)), (x_of(),))
    assert modelexport.decompose(captured, rules=rules) is captured


# ---- what torch cannot decompose


def refused(function, tmp_path, **options) -> str:
    with pytest.raises(modelexport.UnsupportedOperators) as caught:
        modelexport.export(Calls(function), (x_of(),), tmp_path / "m.onnx", **options)
    return re.sub(r'File "[^"]*", line \d+', 'File "…"', str(caught.value))


def test_the_report_says_why_an_operator_is_not_decomposed(tmp_path):
    assert refused(lambda x: mine.around_opaque(mine.opaque(x) + mine.inner(x)), tmp_path) == (
        "2 operators are not supported at opset 20:\n"
        "  mine.around_opaque.default (1 use)\n"
        "    in (root)\n"
        '    at File "…", in forward: return self.function(*args)\n'
        "    torch decomposes it into mine.opaque.default, which is not supported either\n"
        "  mine.opaque.default (1 use)\n"
        "    in (root)\n"
        '    at File "…", in forward: return self.function(*args)\n'
        "    torch has no decomposition for it\n"
        "Alternatively, map an operator to a custom operator with a rules file, or change the model."
    )


def test_a_decomposition_that_depends_on_a_dynamic_size_is_refused(tmp_path):
    assert_exported(Calls(lambda x: mine.same_batch(x)), x_of(), tmp_path / "static.onnx")
    captured = torch.export.export(
        Calls(lambda x: x + 1), (x_of(),), dynamic_shapes=(({0: torch.export.Dim.DYNAMIC},),)
    )
    # The capture itself asks for the size and would fix it; a program may be made in other ways.
    (add,) = calls(captured)
    add.target, add.args = mine.same_batch.default, add.args[:1]
    with pytest.warns(
        UserWarning, match=r"not decomposed: torch's decomposition is only valid for some sizes: .* > 100"
    ):
        assert [node.target for node in calls(modelexport.decompose(captured))] == [mine.same_batch.default]


def test_decompose_warns_of_what_stays(tmp_path):
    captured = torch.export.export(Calls(lambda x: mine.opaque(x) + mine.inner(x)), (x_of(),))
    with pytest.warns(UserWarning, match="mine.opaque.default is not decomposed: torch has no decomposition for it"):
        made = modelexport.decompose(captured)
    assert next(str(node.target) for node in calls(made)) == "mine.opaque.default"
    assert len(calls(made)) == 4
    with pytest.raises(ValueError, match="opset 99 is not supported"):
        modelexport.decompose(captured, opset_version=99)


# ---- archives


def test_the_report_of_an_archive_names_a_call_that_works(tmp_path):
    model = Model().eval()
    x = torch.randn(3, 5, 4)
    torch.export.save(torch.export.export(model, (x,)), tmp_path / "model.pt2")
    ended = support.modelexport("export", tmp_path / "model.pt2", "-o", tmp_path / "m.onnx", "--opset", "18", expect=1)
    report = re.sub(r'File "[^"]*", line \d+', 'File "…"', ended.stderr)
    call = (
        'torch.export.save(modelexport.decompose(torch.export.load("model.pt2"), opset_version=18), "decomposed.pt2")'
    )
    assert report.endswith(
        "1 operator is not supported at opset 18:\n"
        "  mine.block.default (1 use)\n"
        "    in layer\n"
        '    at File "…", in forward: return mine.block(x, self.weight)\n'
        "    torch may be able to decompose it\n"
        f"To decompose operators with torch, run in Python: {call}\n"
        "Alternatively, map an operator to a custom operator with a rules file, or change the model.\n"
    )
    with pytest.raises(modelexport.UnsupportedOperators, match=re.escape(call)):
        modelexport.export(tmp_path / "model.pt2", f=tmp_path / "m.onnx", opset_version=18)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        exec(call, {"torch": torch, "modelexport": modelexport})
    exported = Exported.export(tmp_path / "decomposed.pt2", tmp_path / "m.onnx", "--opset", "18")
    exported.assert_tagged()
    modelexport.export(model, x.clone(), tmp_path / "live.onnx", opset_version=18)
    assert (tmp_path / "live.onnx").read_bytes() == (tmp_path / "m.onnx").read_bytes()
    want = [value.detach().numpy() for value in model(x.clone())]
    support.assert_all_close(exported.run([x.numpy()]), want, ["float32"] * 2)


def test_an_archive_without_anything_to_decompose_gets_no_call(tmp_path):
    captured = torch.export.export(Calls(lambda x: torch.hash_tensor(x)), (x_of(),))
    torch.export.save(captured, tmp_path / "model.pt2")
    ended = support.modelexport("export", tmp_path / "model.pt2", "-o", tmp_path / "m.onnx", expect=1)
    assert "\n    torch has no decomposition for it\nAlternatively, map an operator" in ended.stderr
    assert "modelexport.decompose" not in ended.stderr


def test_the_list_of_decompositions_is_what_torch_does():
    """One of torch's samples of each operator in the list; operators that got a row since then do not matter."""
    lines = dict(line.partition(" ")[::2] for line in decompositions.LIST.read_text().splitlines())
    checked = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for node, mode in decompositions.missing_calls({target.split(".")[1] for target in lines}, most=1):
            target = str(node.target)
            assert decompositions.ends(node, mode) <= set(lines[target].split()), target
            checked.add(target)
    left = set(_native.missing_operators(sorted(lines), decompositions.OPSET, None))
    assert len(checked) >= len(left) // 2, sorted(left - checked)
