"""The native part of modelexport. Its functions are wrapped by the package; call those."""

from pathlib import Path
from typing import Any

from modelexport.capture.program import LiveProgram

__version__: str
DEFAULT_OPSET: int
TRACE_VERSION: str
"""The version of the format of traces."""
PROGRAM_SCHEMA: tuple[int, int]
"""The newest schema of captured programs that can be read: major and minor version."""
LIVE_EVIDENCE: dict[str, str]
"""Strategies for live models, and what each takes: a "trace" of one forward pass, or the captured "program"."""

def run_command(arguments: list[str]) -> int:
    """Runs the `modelexport` command; the first argument is its name. Returns the exit status."""

def run_tool(arguments: list[str]) -> tuple[int, bytes, list[str]]:
    """Runs the `modelexport` command and prints nothing. Returns the exit status, the output and the warnings; what
    the command would call an error is raised."""

def export_archive(source: Path, output: Path, choices: dict[str, Any]) -> tuple[bytes, bytes, list[str]]:
    """Exports an archive that `torch.export.save` wrote. Returns the summary and the sidecar, both as JSON, and what
    the user should know."""

def export_program(live: LiveProgram, output: Path, choices: dict[str, Any]) -> tuple[bytes, bytes, list[str]]:
    """Exports a program from memory. Returns what `export_archive` returns."""

def missing_operators(targets: list[str], opset: int, rules: Path | None) -> list[str]:
    """Those of `targets`, such as `aten.add.Tensor`, that cannot be exported."""

def content_fingerprint(address: int, length: int, dtype: str) -> str | None:
    """The order-independent fingerprint of a tensor's memory as 16 hexadecimal digits."""

def check_trace(data: bytes, file: str) -> None:
    """Raises `ValueError` unless the bytes are a trace that fits together."""
