"""Runs commands and says what they took."""

import os
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Series:
    """Repetitions of one thing: seconds on the clock and of the processor, and the largest memory in MB."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: float = 0.0

    @property
    def median(self) -> float:
        return statistics.median(self.wall)

    def text(self) -> str:
        return f"{seconds(self.median)} ({seconds(min(self.wall))} to {seconds(max(self.wall))})"


def seconds(value: float) -> str:
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"


def run(command: list[str | Path], series: Series) -> None:
    """One repetition."""
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    began = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command}: {said.decode()[-2000:]}")
    series.wall.append(took)
    series.cpu.append(usage.ru_utime + usage.ru_stime)
    series.memory = max(series.memory, usage.ru_maxrss / 1024)


def interleaved(commands: dict[str, list], folder: Path, repetitions: int) -> dict[str, Series]:
    """Repeats the commands in turn, each into an empty folder, so that a slow minute hits all of them alike."""
    found = {name: Series() for name in commands}
    for _ in range(repetitions):
        for name, command in commands.items():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            run(command, found[name])
    shutil.rmtree(folder, ignore_errors=True)
    return found


def ratio(ours: Series, theirs: Series) -> tuple[float, float, float]:
    """Median of the ratios of neighbours, and the smallest and the largest."""
    ratios = [a / b for a, b in zip(ours.wall, theirs.wall, strict=False)]
    return statistics.median(ratios), min(ratios), max(ratios)


def ratio_text(ours: Series, theirs: Series) -> str:
    middle, low, high = ratio(ours, theirs)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"
