"""Every row of the operator registry, numerically against PyTorch."""

import json

import pytest

import op_calls
import op_cases
import op_harness
import support

CASES = {case.name: case for case in op_cases.load_all()}


@pytest.fixture(scope="session")
def prepared(request, tmp_path_factory):
    """All selected cases, captured and exported in one batch."""
    names = [
        item.callspec.params["name"]
        for item in request.session.items
        if getattr(item, "originalname", "") == "test_operator" and "name" in item.callspec.params
    ]
    root = tmp_path_factory.mktemp("ops")
    ready = {name: op_harness.prepare(CASES[name], root / str(i)) for i, name in enumerate(names)}
    op_harness.export_all([(CASES[name], one) for name, one in ready.items()], str(support.binary()))
    return ready


@pytest.mark.parametrize("name", [pytest.param(name, id=f"{case.family}-{name}") for name, case in CASES.items()])
def test_operator(name, prepared):
    op_harness.check(CASES[name], prepared[name])


def test_captured_calls_are_those_of_pytorch(prepared):
    """Of the operators whose cases run: the calls that the snapshots of the operator files start from."""
    recorded = set(op_calls.FILE.read_text().splitlines())
    stale = []
    for name, ready in prepared.items():
        if ready.program is None or CASES[name].family in op_calls.REWRITTEN:
            continue
        try:
            calls = op_calls.calls(CASES[name], ready.program)
        except op_calls.Inexpressible:
            continue
        if calls and calls[0] not in recorded:
            stale.append(calls[0])
    assert not stale, (
        "run `python tests/python/op_calls.py`, then `cargo insta test -p modelexport_lower`: " + "\n".join(stale)
    )


def registry() -> list[dict]:
    return json.loads(support.modelexport("operators", "--format", "json").stdout)


def test_every_row_has_a_case():
    tested = {case.target for case in CASES.values()}
    missing = sorted({row["target"] for row in registry()} - tested - op_cases.UNCAPTURED)
    assert not missing, f"{len(missing)} rows without a case: {missing}"


def test_schemas_are_those_of_pytorch():
    import torch

    wrong = []
    for row in registry():
        if not row["schema"]:
            continue
        overload = torch.ops
        for part in row["target"].split("."):
            overload = getattr(overload, part)
        namespace = row["target"].split(".")[0]
        if str(overload._schema) != f"{namespace}::{row['schema']}":
            wrong.append(f"{row['target']}: {row['schema']} but PyTorch has {overload._schema}")
    assert not wrong, "\n".join(wrong)
