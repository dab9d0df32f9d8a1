"""Runs commands and says what they took."""

import functools
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path


class Failed(RuntimeError):
    """A command ended with an error; the last line that it said."""


@dataclass
class Series:
    """Repetitions of one thing: seconds on the clock and of the processor, and the largest memory in MB."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: float = 0.0

    @property
    def median(self) -> float:
        return statistics.median(self.wall)

    @property
    def median_cpu(self) -> float:
        return statistics.median(self.cpu)

    def text(self) -> str:
        """The median, and the spread where there is one."""
        if len(self.wall) == 1:
            return seconds(self.median)
        return f"{seconds(self.median)} ({seconds(min(self.wall))} to {seconds(max(self.wall))})"

    def memory_text(self) -> str:
        # A process that was just started counts the memory of the one that started it.
        floor = memory_floor()
        return f"below {floor:.0f} MB" if self.memory <= floor else f"{self.memory:,.0f} MB"


def seconds(value: float) -> str:
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"


def run(command: list[str | Path], series: Series) -> None:
    """One repetition. The time is that of the whole process; a Python one prints the seconds of its work alone as its last
    word, so that starting Python and importing packages do not count."""
    time_is_printed = command[0] == sys.executable
    environment = {**os.environ, "OMP_NUM_THREADS": str(os.cpu_count())}
    with tempfile.TemporaryDirectory() as folder:
        printed, said = Path(folder, "stdout"), Path(folder, "stderr")
        request = {
            "command": [str(part) for part in command],
            "environment": environment,
            "stdout": str(printed),
            "stderr": str(said),
        }
        print(json.dumps(request), file=runner().stdin, flush=True)
        took = json.loads(runner().stdout.readline())
        if took["code"] != 0:
            lines = said.read_text(errors="replace").strip().splitlines() or ["no message"]
            raise Failed(f"{Path(str(command[0])).name} {command[1]}: {lines[-1][:200]}")
        series.wall.append(float(printed.read_text().split()[-1]) if time_is_printed else took["seconds"])
    series.cpu.append(took["cpu"])
    series.memory = max(series.memory, took["megabytes"])


@functools.cache
def runner() -> subprocess.Popen:
    """The process that starts commands; it ends when its input does."""
    command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("runner.py"))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@functools.cache
def memory_floor() -> float:
    """The memory that a command of no size seems to take, in MB."""
    series = Series()
    run(["true", ""], series)
    return math.ceil(series.memory) + 1


def interleaved(commands: dict[str, list], folder: Path, repetitions: int, warm_up: bool = False) -> dict[str, Series]:
    """Repeats the commands in turn, each into an empty folder, so that a slow minute hits all of them alike. A command
    that fails is left out of the result, with a line about it.

    With `warm_up`, each repetition runs the command once before it is measured. What a large file costs the kernel depends on
    the memory that the command before has left; so each finds what it leaves itself."""
    found = {name: Series() for name in commands}
    failed = set()
    for _ in range(repetitions):
        for name, command in commands.items():
            if name in failed:
                continue
            try:
                for series in [Series(), found[name]] if warm_up else [found[name]]:
                    shutil.rmtree(folder, ignore_errors=True)
                    folder.mkdir(parents=True)
                    run(command, series)
            except Failed as error:
                print(f"  left out: {error}", flush=True)
                failed.add(name)
    shutil.rmtree(folder, ignore_errors=True)
    return {name: series for name, series in found.items() if name not in failed}


def ratio(ours: Series, theirs: Series) -> tuple[float, float, float]:
    """Median of the ratios of neighbours, and the smallest and the largest."""
    ratios = [a / b for a, b in zip(ours.wall, theirs.wall, strict=False)]
    return statistics.median(ratios), min(ratios), max(ratios)


def ratio_text(ours: Series, theirs: Series) -> str:
    middle, low, high = ratio(ours, theirs)
    if low == high:
        return number(middle)
    return f"{number(middle)} ({number(low)} to {number(high)})"


def number(value: float) -> str:
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}" if value < 20 else f"{value:,.0f}"
