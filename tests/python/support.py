"""Where things are, how to run the command line, and how to compare numbers."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"

# Largest difference that is accepted, as a part of the largest expected number, by the precision of the type.
TOLERANCE = {"float16": 1e-2, "bfloat16": 2e-2}
DEFAULT_TOLERANCE = 1e-3

sys.path.insert(0, str(FIXTURES))


@dataclass(frozen=True)
class Fixture:
    """One folder of `fixtures/`."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def program(self) -> Path:
        return self.folder / "model.pt2"

    @cached_property
    def description(self) -> dict:
        return json.loads((self.folder / "fixture.json").read_text())

    @cached_property
    def calls(self) -> dict[str, "Call"]:
        """The captured call, and the alternative one where there is one, by name."""
        with np.load(self.folder / "io.npz") as data:
            prefixes = {"captured": "", "alternative": "alt_"}
            return {
                name: Call(series(data, f"{prefix}in"), series(data, f"{prefix}out"))
                for name, prefix in prefixes.items()
                if f"{prefix}out0" in data
            }


@dataclass(frozen=True)
class Call:
    """Inputs in the order of the program's user inputs, and what PyTorch made of them."""

    inputs: list[np.ndarray]
    outputs: list[np.ndarray]


def series(data, name: str) -> list[np.ndarray]:
    """`name0`, `name1`, … for as long as they go on."""
    found = []
    while f"{name}{len(found)}" in data:
        found.append(data[f"{name}{len(found)}"])
    return found


def all_fixtures() -> list[Fixture]:
    return [Fixture(path.parent) for path in sorted(FIXTURES.glob("*/generate.py"))]


def binary() -> Path:
    """The `modelexport` under test: MODELEXPORT_BIN, or the release build of this repository."""
    if given := os.environ.get("MODELEXPORT_BIN"):
        return Path(given)
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "modelexport"
    if not built.exists():
        raise FileNotFoundError(f"{built}: not built; run `cargo build --release` or `./test python`")
    return built


def run(*arguments: str | Path, timeout: float = 300, **options) -> subprocess.CompletedProcess:
    """Run the command line, whatever its exit code."""
    command = [str(binary()), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)


def modelexport(
    *arguments: str | Path, expect: int = 0, timeout: float = 300, **options
) -> subprocess.CompletedProcess:
    """Run the command line and check its exit code; the message of a failure is what it printed."""
    ended = run(*arguments, timeout=timeout, **options)
    said = f"{' '.join(ended.args)}\nexit {ended.returncode}, expected {expect}\n{ended.stdout}{ended.stderr}"
    assert ended.returncode == expect, said
    return ended


def assert_close(got: np.ndarray, want: np.ndarray, dtype: str, what: str) -> None:
    """Equal shapes and, within the tolerance of `dtype` (that of the program's output), equal numbers."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    if want.dtype.kind in "biu":
        assert np.array_equal(got, want), f"{what}: {np.count_nonzero(got != want)} of {want.size} differ"
        return
    precise = np.complex128 if want.dtype.kind == "c" else np.float64
    got, want = got.astype(precise), want.astype(precise)
    assert np.array_equal(np.isnan(got), np.isnan(want)), f"{what}: NaN in other places"
    # Infinities are equal or not; a difference of them would be NaN.
    differs = ~np.isnan(want) & (got != want)
    if not differs.any():
        return
    finite = want[np.isfinite(want)]
    scale = max(float(np.abs(finite).max()) if finite.size else 0.0, 1e-3)
    worst = float(np.abs(got - want)[differs].max()) / scale
    allowed = TOLERANCE.get(dtype, DEFAULT_TOLERANCE)
    assert worst <= allowed, f"{what}: largest difference {worst:.2e} of its scale, allowed {allowed:.0e}"


def assert_all_close(got: list[np.ndarray], want: list[np.ndarray], dtypes: list[str]) -> None:
    assert len(got) == len(want), f"{len(got)} outputs, expected {len(want)}"
    for i, (mine, theirs, dtype) in enumerate(zip(got, want, dtypes, strict=True)):
        assert_close(mine, theirs, dtype, f"output {i}")
