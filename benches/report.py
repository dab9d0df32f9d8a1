"""The report: sections of text and tables, with pictures beside it."""

import contextlib
import datetime
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path


class Report:
    def __init__(self, target: Path):
        self.target, self._lines = target, []

    def section(self, title: str, *paragraphs: str) -> None:
        self.text(f"## {title}", *paragraphs)
        print(f"{title} …", flush=True)

    def text(self, *paragraphs: str) -> None:
        for paragraph in paragraphs:
            self._lines += [paragraph, ""]

    def table(self, header: list[str], rows: list[list[str]]) -> None:
        self._lines += ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
        self._lines += ["| " + " | ".join(row) + " |" for row in rows]
        self._lines.append("")

    def picture(self, name: str, drawing: str) -> None:
        folder = self.target.parent / self.target.stem
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.svg").write_text(drawing)
        self.text(f"![{name.replace('_', ' ')}]({self.target.stem}/{name}.svg)")

    def write(self) -> None:
        self.target.parent.mkdir(parents=True, exist_ok=True)
        self.target.write_text("\n".join(self._lines).rstrip() + "\n")


def machine() -> str:
    """The date, the machine and the versions of a run."""
    cpu = next(line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name"))
    memory = next(int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")) / (1 << 20)
    load = os.getloadavg()[0]
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return (
        f"{datetime.date.today()}. {cpu}, {os.cpu_count()} processors, {memory:.0f} GiB of memory, "
        f"{platform.system()} {platform.release()}; load {load:.1f} at the start. Python {platform.python_version()}, "
        f"{', '.join(versions())}; {compiler}."
    )


def versions() -> list[str]:
    found = []
    for name in ["torch", "onnx", "onnxruntime", "onnx-ir", "onnxscript", "transformers"]:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found.append(f"{name} {importlib.metadata.version(name)}")
    return found


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()
