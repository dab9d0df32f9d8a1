"""Measures modelexport beside its peers and writes docs/benchmarks.md. Started by ./bench."""

import argparse
import datetime
import importlib.metadata
import json
import math
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import measure
import models
import svg
import synthetic
from measure import Series, interleaved, ratio, ratio_text, seconds

ROOT = Path(__file__).resolve().parents[1]
BINARY = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "modelexport"
WORK = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "bench"
PEERS = [sys.executable, ROOT / "benches" / "peers.py"]


class Report:
    """Sections of text, and pictures beside it."""

    def __init__(self, folder: Path, quick: bool):
        self.folder, self.quick, self.lines = folder, quick, []

    def section(self, title: str, *paragraphs: str) -> None:
        self.lines += ["", f"## {title}", "", *paragraphs]
        print(f"{title} …", flush=True)

    def table(self, header: list[str], rows: list[list[str]]) -> None:
        self.lines += ["", "| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
        self.lines += ["| " + " | ".join(row) + " |" for row in rows]

    def picture(self, name: str, text: str) -> None:
        pictures = self.folder / "benchmarks"
        pictures.mkdir(parents=True, exist_ok=True)
        (pictures / f"{name}.svg").write_text(text)
        self.lines += ["", f"![{name}](benchmarks/{name}.svg)"]


def machine() -> list[str]:
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    memory = next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("MemTotal")) >> 20
    packages = ["torch", "onnx", "onnxruntime", "onnx-ir", "onnxscript", "transformers"]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    return [
        f"Machine: {cpu}, {os.cpu_count()} processors, {memory} GiB of memory, {platform.system()} {platform.release()}.",
        f"Python {platform.python_version()}, {versions}; {compiler}.",
        f"Date: {datetime.date.today()}.",
    ]


def capture(name: str, quick: bool) -> Path:
    """Made once and kept."""
    target = WORK / ("quick" if quick else "full") / f"{name}.pt2"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        script = ROOT / "benches" / "models.py"
        subprocess.run([sys.executable, script, name, "quick" if quick else "full", target], check=True)
    return target


def export_section(report: Report, names: list[str]) -> None:
    report.section(
        "Export of a .pt2",
        "The whole command, weights embedded or external, against `cp` of the archive in turn, and against loading the "
        "program and `torch.onnx.export` plus saving in a process of its own. All files are in the page cache. Ratios are "
        "medians of neighbouring repetitions with the smallest and the largest.",
    )
    rows, bars = [], []
    for name in names:
        source = capture(name, report.quick)
        source.read_bytes() if source.stat().st_size < 1 << 30 else subprocess.run(["cat", source], stdout=subprocess.DEVNULL)
        out = WORK / "out"
        ours = [BINARY, "export", source, "-o", out / "m.onnx", "-q"]
        repetitions = 3 if report.quick or source.stat().st_size > 1 << 30 else 9
        found = interleaved({"ours": ours, "cp": ["cp", source, out / "m.pt2"]}, out, repetitions)
        torch = interleaved({"torch": [*PEERS, "torch_program", source, out / "t.onnx"]}, out, 1)["torch"]
        exported, copied = found["ours"], found["cp"]
        bars.append((name, ratio(exported, copied)[0]))
        size = f"{source.stat().st_size / 1e6:.0f} MB"
        rows.append([
            name, size, exported.text(), f"{measure.statistics.median(exported.cpu):.2f} s", copied.text(),
            ratio_text(exported, copied), seconds(torch.median), f"{torch.median / exported.median:.0f}×",
            f"{exported.memory:.0f} / {torch.memory:.0f} MB",
        ])
    report.table(["model", "archive", "export", "processor time", "cp", "export / cp", "torch", "torch / export", "memory ours / torch"], rows)
    report.picture("export_against_cp", svg.bars("time of export / time of cp (target 1.2 above 100 MB)", bars, 1.2, "×"))


def start_section(report: Report, names: list[str]) -> None:
    report.section("Start-up and references", "`--weights reference` copies nothing; its time depends on the graph alone.")
    start = interleaved({"start": [BINARY, "--version"]}, WORK / "out", 20)["start"]
    rows = [["start-up (`--version`)", start.text(), f"{start.memory:.0f} MB"]]
    for name in names:
        source = capture(name, report.quick)
        target = source.with_suffix(".onnx")
        series = Series()
        for _ in range(5):
            measure.run([BINARY, "export", source, "-o", target, "--weights", "reference", "-q", "--overwrite"], series)
        for path in [target, source.with_name(f"{source.stem}_hierarchy.json"), Path(f"{target}.data")]:
            path.unlink(missing_ok=True)
        rows.append([f"{name} by reference", series.text(), f"{series.memory:.0f} MB"])
    report.table(["what", "time", "memory"], rows)


def growth_section(report: Report) -> None:
    report.section("Growth", "Captures of a chain of operators; export with `--weights reference`. Linear growth has the slope 1.")
    counts = [1_000, 10_000, 100_000] if report.quick else [1_000, 10_000, 100_000, 1_000_000]
    rows, points = [], []
    for count in counts:
        source = WORK / f"chain_{count}.pt2"
        length = synthetic.write(count, source)
        out = WORK / "out"
        series = interleaved({"ours": [BINARY, "export", source, "-o", out / "m.onnx", "-q"]}, out, 3)["ours"]
        source.unlink()
        points.append((count, series.median))
        rows.append([f"{count:,}", f"{length / 1e6:.1f} MB", series.text(), f"{series.median / count * 1e6:.2f} µs", f"{series.memory:.0f} MB"])
    report.table(["nodes", "graph JSON", "export", "per node", "memory"], rows)
    (x0, y0), (x1, y1) = points[-2], points[-1]
    slope = math.log(y1 / y0) / math.log(x1 / x0)
    report.lines += ["", f"Slope between the two largest: {slope:.2f}."]
    report.picture("growth_in_nodes", svg.curve("time of export by number of nodes", points, "nodes", "seconds"))


def commands() -> str:
    return subprocess.run([BINARY, "--help"], capture_output=True, text=True).stdout


def tag_section(report: Report, name: str) -> None:
    if "\n  tag " not in commands():
        return
    report.section("Tags of a foreign file", "Against loading, annotating every node and saving in Python.")
    source, out = capture(name, report.quick), WORK / "out"
    foreign = WORK / "foreign.onnx"
    subprocess.run([*PEERS, "torch_program", source, foreign], check=True, capture_output=True)
    tag = [BINARY, "tag", foreign, "--evidence", source, "-o", out / "m.onnx", "-q"]
    found = interleaved({"ours": tag, "onnx": [*PEERS, "tag_onnx", foreign, out / "m.onnx"], "onnx-ir": [*PEERS, "tag_onnx_ir", foreign, out / "m.onnx"]}, out, 3)
    rows = [[peer, series.text(), f"{series.median / found['ours'].median:.0f}×", f"{series.memory:.0f} MB"] for peer, series in found.items()]
    report.table(["who", "time", "against ours", "memory"], rows)


def live_section(report: Report, names: list[str]) -> None:
    report.section("Export of a live model", "Capture included, in a process of its own; time of the call alone.")
    rows = []
    has_package = subprocess.run([sys.executable, "-c", "import modelexport"], capture_output=True).returncode == 0
    for name in names:
        row = [name]
        for kind in ["modelexport", "dynamo", "torchscript"] if has_package else ["dynamo", "torchscript"]:
            shutil.rmtree(WORK / "out", ignore_errors=True)
            (WORK / "out").mkdir(parents=True)
            command = [*PEERS, "torch_live", name, "quick" if report.quick else "full", kind, WORK / "out" / "m.onnx"]
            done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
            row.append(seconds(float(done.stdout.split()[-1])) if done.returncode == 0 else "fails")
        rows.append(row)
    kinds = ["modelexport", "torch dynamo", "torch TorchScript"] if has_package else ["torch dynamo", "torch TorchScript"]
    report.table(["model", *kinds], rows)


def run_section(report: Report, names: list[str]) -> None:
    report.section("What is exported", "Nodes, and onnxruntime's time for one run (2 threads, default optimisation), ours and torch's in turn.")
    rows = []
    for name in names:
        source, out = capture(name, report.quick), WORK / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        subprocess.run([BINARY, "export", source, "-o", out / "ours.onnx", "-q"], check=True)
        subprocess.run([str(part) for part in [*PEERS, "torch_program", source, out / "torch.onnx"]], check=True, capture_output=True)
        done = subprocess.run([str(part) for part in [*PEERS, "run_time", out / "ours.onnx", out / "torch.onnx"]], capture_output=True, text=True)
        if done.returncode != 0:
            rows.append([name, "", "", "", done.stderr.strip().splitlines()[-1][:100]])
            continue
        told = json.loads(done.stdout)
        (ours, torch), (a, b) = told["nodes"], told["seconds"]
        rows.append([name, str(ours), str(torch), f"{ours / torch:.2f}", f"{seconds(a[0])} / {seconds(b[0])} = {a[0] / b[0]:.3f}"])
    shutil.rmtree(WORK / "out", ignore_errors=True)
    report.table(["model", "nodes", "torch's nodes", "ratio", "run time ours / torch's"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small models, few repetitions: two minutes")
    parser.add_argument("--models", default=",".join(models.NAMES), help="which models, with commas")
    parser.add_argument("--sections", default="export,start,growth,tag,live,run", help="what to measure")
    parser.add_argument("-o", "--output", type=Path, help="where the report goes")
    options = parser.parse_args()
    # A quick run shows that everything works; its figures are not the published ones.
    target = options.output or (WORK / "quick.md" if options.quick else ROOT / "docs" / "benchmarks.md")
    names = options.models.split(",")
    if options.quick:
        names = names[:2]
    WORK.mkdir(parents=True, exist_ok=True)
    report = Report(target.parent, options.quick)
    sections = {
        "export": lambda: export_section(report, names),
        "start": lambda: start_section(report, names),
        "growth": lambda: growth_section(report),
        "tag": lambda: tag_section(report, names[0]),
        "live": lambda: live_section(report, names[:1]),
        "run": lambda: run_section(report, names[:1] if options.quick else names),
    }
    report.lines += ["# Benchmarks", "", "Written by `./bench`. " + " ".join(machine())]
    for name in options.sections.split(","):
        sections[name]()
    notes = ROOT / "benches" / "notes.md"
    if notes.exists() and not options.quick:
        report.lines += ["", notes.read_text().rstrip()]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(report.lines) + "\n")
    print(f"wrote {target.name}")


if __name__ == "__main__":
    main()
