"""Entries of PyTorch's operator database: a selection, or all of them with `--op-db`."""

import json

import pytest

import op_db
import support

MEASURED = json.loads((support.ROOT / "docs" / "op-db-measured.json").read_text())

#: What users ask for most, and where results were once wrong.
SELECTION = [
    "addmm",
    "addr",
    "angle",
    "block_diag",
    "broadcast_tensors",
    "cartesian_prod",
    "column_stack",
    "diagflat",
    "fft.fftshift",
    "fft.hfft",
    "gradient",
    "index_add",
    "index_put",
    "index_reduce.amax",
    "linalg.cholesky",
    "linalg.det",
    "linalg.inv",
    "linalg.matrix_power",
    "linalg.solve",
    "linalg.solve_triangular",
    "linalg.vecdot",
    "masked.cumprod",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "nanquantile",
    "nn.functional.adaptive_avg_pool3d",
    "nn.functional.conv_transpose2d",
    "nn.functional.cosine_embedding_loss",
    "nn.functional.group_norm",
    "nn.functional.huber_loss",
    "nn.functional.mse_loss",
    "nn.functional.pad.circular",
    "nn.functional.smooth_l1_loss",
    "nn.functional.triplet_margin_loss",
    "renorm",
    "searchsorted",
    "stft",
    "var_mean.unbiased",
    "vsplit",
]


def pytest_generate_tests(metafunc):
    names = sorted(MEASURED) if metafunc.config.getoption("op_db") else SELECTION
    metafunc.parametrize("name", names)


@pytest.fixture(scope="module")
def database():
    return op_db.entries()


def test_entry_is_as_good_as_measured(name, database, tmp_path, request):
    samples = op_db.SAMPLES if request.config.getoption("op_db") else 2
    made = op_db.apart(lambda: op_db.make(name, database[name], tmp_path, samples))
    assert "died" not in made, made
    row = op_db.apart(lambda: op_db.score(name, tmp_path, op_db.ours, None))
    assert "died" not in row, row
    found = op_db.verdict(row)
    assert found != "wrong", row["why"]
    assert op_db.VERDICTS.index(found) <= op_db.VERDICTS.index(MEASURED[name]), row["why"]
