"""What is measured, section by section. Each writes its part of the report."""

import json
import math
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import measure
import svg
import synthetic
from measure import Series, interleaved, ratio, ratio_text, seconds
from report import Report

ROOT = Path(__file__).resolve().parents[1]
PEERS = [sys.executable, ROOT / "benches" / "peers.py"]

LARGE = 1 << 30


@dataclass
class Bench:
    """One run: how thorough it is, and where things lie."""

    report: Report
    binary: Path
    work: Path
    """Captures are kept here from run to run."""
    size: str
    """`full` or `quick`."""
    names: list[str]
    with_peers: bool = True
    """Without torch, onnx and onnxruntime, only what modelexport does alone is measured."""

    @property
    def is_quick(self) -> bool:
        return self.size == "quick"

    @property
    def out(self) -> Path:
        return self.work / "out"

    def captured(self, *names: str) -> list[Path]:
        """Archives of models; those that are not there are made."""
        folder = self.work / self.size
        folder.mkdir(parents=True, exist_ok=True)
        missing = [name for name in names if not (folder / f"{name}.pt2").exists()]
        if missing:
            print(f"  capturing {', '.join(missing)}", flush=True)
            command = [sys.executable, ROOT / "benches" / "models.py", self.size, folder, *missing]
            subprocess.run(command, check=True, capture_output=True)
        return [folder / f"{name}.pt2" for name in names]

    def torch_file(self, name: str) -> Path:
        """What torch's exporter makes of an archive; kept from run to run."""
        return self.work / self.size / f"{name}.torch.onnx"

    def torch_command(self, name: str) -> list[str | Path]:
        return [*PEERS, "torch_program", *self.captured(name), self.torch_file(name)]

    def made_by_torch(self, name: str) -> Path | None:
        """The same file, made if it is not there; nothing where torch cannot."""
        if not self.torch_file(name).exists():
            try:
                measure.run(self.torch_command(name), Series())
            except measure.Failed as error:
                print(f"  left out: {error}", flush=True)
                self.torch_file(name).unlink(missing_ok=True)
                return None
        return self.torch_file(name)

    def measures_torch(self, name: str) -> bool:
        """In a quick run for the first model only."""
        return self.with_peers and (not self.is_quick or name == self.names[0])

    @property
    def node_counts(self) -> list[int]:
        if not self.with_peers:
            return [1_000, 3_000, 10_000]
        return [1_000, 10_000, 100_000] + ([] if self.is_quick else [1_000_000])

    def repetitions(self, source: Path, many: int) -> int:
        if self.is_quick:
            return 2
        return 5 if source.stat().st_size > LARGE else many


def warm(path: Path) -> None:
    """Into the page cache, so that nobody pays for the disk first."""
    subprocess.run(["cat", path], stdout=subprocess.DEVNULL, check=True)


def export(bench: Bench) -> None:
    report = bench.report
    report.section(
        "Export of a .pt2",
        "The whole command with its default options, against `cp` of the archive in turn, and against loading the program, "
        "`torch.onnx.export` and saving, in a process of its own whose start and imports do not count. Archives are in the page cache. Export and `cp` "
        "run twice each time and the second run counts, so that both find the memory as they leave it themselves. A ratio is the "
        "median over neighbouring repetitions, with the smallest and the largest.",
    )
    rows, against_cp, against_torch = [], [], []
    for name, source in zip(bench.names, bench.captured(*bench.names), strict=True):
        warm(source)
        ours = [bench.binary, "export", source, "-o", bench.out / "m.onnx", "-q"]
        commands = {"ours": ours, "cp": ["cp", source, bench.out / "m.pt2"]}
        found = interleaved(commands, bench.out, bench.repetitions(source, 9), warm_up=True)
        exported, copied = found["ours"], found["cp"]
        against_cp.append((name, ratio(exported, copied)[0]))
        row = [
            name,
            f"{source.stat().st_size / 1e6:,.0f} MB",
            exported.text(),
            seconds(exported.median_cpu),
            copied.text(),
            ratio_text(exported, copied),
        ]
        # Torch takes so long that it would blur the comparison with cp; it gets a round of its own.
        is_long = bench.is_quick or source.stat().st_size > LARGE
        commands = {"torch": bench.torch_command(name), "ours": ours}
        found = interleaved(commands, bench.out, 1 if is_long else 2) if bench.measures_torch(name) else {}
        if theirs := found.get("torch"):
            against_torch.append((name, ratio(theirs, found["ours"])[0]))
            row += [theirs.text(), f"{ratio_text(theirs, found['ours'])}"]
            row.append(f"{exported.memory_text()} / {theirs.memory_text()}")
        else:
            row += ["", "", exported.memory_text()]
        rows.append(row)
    header = ["model", "archive", "export", "processor time", "cp", "export / cp", "torch", "torch / export"]
    report.table([*header, "peak memory, ours / torch's"], rows)
    report.picture(
        "export_against_cp", svg.bars("time of export / time of cp; target 1.2 above 100 MB", against_cp, 1.2)
    )
    if against_torch:
        report.picture("export_against_torch", svg.bars("how many times longer torch takes", against_torch))


def start(bench: Bench) -> None:
    bench.report.section(
        "Start-up and references",
        "`--weights reference` copies nothing: its time depends on the graph alone. Targets: start-up 10 ms; 100 ms and 1 µs "
        "for each byte of the graph's JSON for an archive of 10 GB, whose weights are a hole here.",
    )
    began = interleaved({"start": [bench.binary, "--version"]}, bench.out, 20)["start"]
    rows = [["start-up (`--version`)", "", began.text(), "10 ms", began.memory_text()]]
    archives = dict(zip(bench.names, bench.captured(*bench.names), strict=True)) if bench.with_peers else {}
    hole = bench.work / "ten_gigabytes.pt2"
    json_bytes = synthetic.write_chain(hole, 2_000, 10 << 30)
    archives["10 GB, 2,000 nodes"] = hole
    for name, source in archives.items():
        target, series = source.with_suffix(".reference.onnx"), Series()
        for _ in range(5):
            command = [bench.binary, "export", source, "-o", target, "--weights", "reference", "-q", "--overwrite"]
            measure.run(command, series)
        for path in target.parent.glob(f"{target.stem}*"):
            path.unlink()
        allowed = seconds(0.1 + json_bytes * 1e-6) if source == hole else ""
        rows.append(
            [
                f"{name} by reference",
                f"{source.stat().st_size / 1e6:,.0f} MB",
                series.text(),
                allowed,
                series.memory_text(),
            ]
        )
    hole.unlink()
    bench.report.table(["what", "archive", "time", "target", "peak memory"], rows)


def growth(bench: Bench) -> None:
    report = bench.report
    report.section(
        "Growth",
        "Archives of a chain of additions in modules of fifty nodes. `export` lowers, tags and writes; `tree`, `tag` and `strip` "
        "work on the file that it made. The slope is that of a straight line through the logarithms, by least squares: 1 is "
        "linear, 2 quadratic.",
    )
    counts = bench.node_counts
    curves: dict[str, list[tuple[float, float]]] = {"export": [], "tree": [], "tag": [], "strip": []}
    rows = []
    for count in counts:
        source, made = bench.work / f"chain_{count}.pt2", bench.work / "chain" / "m.onnx"
        made.parent.mkdir(exist_ok=True)
        json_bytes = synthetic.write_chain(source, count)
        commands = {
            "export": [bench.binary, "export", source, "-o", made, "-q", "--overwrite"],
            "tree": [bench.binary, "tree", made, "-q", "--depth", "1"],
            "tag": [bench.binary, "tag", made, "-o", made.with_name("tagged.onnx"), "-q", "--overwrite"],
            "strip": [bench.binary, "strip", made, "-o", made.with_name("plain.onnx"), "-q", "--overwrite"],
        }
        found = {name: Series() for name in commands}
        for _ in range(3 if count < 100_000 or (count < 1_000_000 and not bench.is_quick) else 1):
            for name, command in commands.items():
                measure.run(command, found[name])
        for name, series in found.items():
            curves[name].append((count, series.median))
        rows.append([f"{count:,}", f"{json_bytes / 1e6:,.1f} MB", f"{made.stat().st_size / 1e6:,.1f} MB"])
        rows[-1] += [f"{series.text()}, {series.memory_text()}" for series in found.values()]
        source.unlink()
        shutil.rmtree(made.parent)
    report.table(["nodes", "graph JSON", "ONNX", *curves], rows)
    slopes = ", ".join(f"`{name}` {slope(points[1:]):.2f}" for name, points in curves.items())
    report.text(f"Slopes from {counts[1]:,} nodes on: {slopes}. Below that, starting the command is what is measured.")
    report.picture("growth_in_nodes", svg.curves("seconds by number of nodes", curves, "nodes"))
    if bench.with_peers:
        layers(bench)


def layers(bench: Bench) -> None:
    counts = [1, 4] if bench.is_quick else [1, 2, 4, 8, 16, 32, 64]
    points = []
    rows = []
    for count, source in zip(counts, bench.captured(*(f"layers_{count}" for count in counts)), strict=True):
        command = [bench.binary, "export", source, "-o", bench.out / "m.onnx", "-q"]
        series = interleaved({"ours": command}, bench.out, 7)["ours"]
        points.append((count, series.median))
        rows.append([str(count), series.text(), series.memory_text()])
    bench.report.text("A small Llama, by its number of layers:")
    bench.report.table(["layers", "export", "peak memory"], rows)
    base, per_layer, worst = line(points)
    bench.report.text(
        f"Straight line by least squares: {seconds(base)} and {seconds(per_layer)} for each layer; the farthest point lies "
        f"{seconds(worst)} from it."
    )
    bench.report.picture("growth_in_layers", svg.curves("seconds by number of layers", {"export": points}, "layers"))


def slope(points: list[tuple[float, float]]) -> float:
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    products = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return products / sum((x - x_mean) ** 2 for x in xs)


def line(points: list[tuple[float, float]]) -> tuple[float, float, float]:
    """Height at zero, steepness, and the largest distance of a point."""
    x_mean, y_mean = (sum(values) / len(points) for values in zip(*points, strict=True))
    steepness = sum((x - x_mean) * (y - y_mean) for x, y in points) / sum((x - x_mean) ** 2 for x, _ in points)
    base = y_mean - steepness * x_mean
    return base, steepness, max(abs(y - base - steepness * x) for x, y in points)


def tools(bench: Bench) -> None:
    """Tagging, stripping and extracting against Python."""
    if not bench.with_peers:
        return
    bench.report.section(
        "Tag, strip, extract",
        "A file of torch's exporter is tagged by what it says itself, and by the archive as evidence; ours is stripped, and one layer cut out of it. Against loading, setting or clearing "
        "the texts of every node and saving with `onnx` and with `onnx-ir`, and against their own functions to extract. A "
        "process each, of which Python's start and imports do not count; ratios of neighbours. Where the weights are in a data file, results "
        "are written beside it; `cp` then copies the graph alone, and `onnx-ir` leaves the weights of an extracted part where they are, as we do by reference. Target for tagging: at least 30 times faster than `onnx`.",
    )
    rows, bars = [], []
    for name in bench.names if not bench.is_quick else bench.names[:1]:
        (source,) = bench.captured(name)
        foreign, ours = bench.made_by_torch(name), bench.work / "ours" / f"{name}.onnx"
        ours.parent.mkdir(exist_ok=True)
        subprocess.run([bench.binary, "export", source, "-o", ours, "-q", "--overwrite"], check=True)
        repetitions = 1 if source.stat().st_size > LARGE else bench.repetitions(source, 3)
        tasks = {"strip": (ours, [], [])}
        if foreign is not None:
            tasks = {"tag": (foreign, [], [])} | tasks
        if (extracting := first_layer(bench, ours)) is not None:
            selector, inputs, outputs = extracting
            tasks["extract"] = (ours, [selector, "--keep-names"], [inputs, outputs])
        for task, (file, options, arguments) in tasks.items():
            has_data_file = file.with_name(f"{file.name}.data").exists()
            target = file.with_name("beside.onnx") if has_data_file else bench.out / "m.onnx"
            command = [bench.binary, task, file, *options, "-o", target, "-q", "--overwrite"]
            commands = {"ours": command}
            if task == "tag":
                commands["ours, with the .pt2 as evidence"] = [*command, "--evidence", source]
                commands["cp"] = ["cp", file, target]
            if task == "extract" and has_data_file:
                commands["ours, by reference"] = [*command, "--weights", "reference"]
            commands |= {peer: [*PEERS, f"{task}_{peer}", file, target, *arguments] for peer in ["onnx", "onnx_ir"]}
            found = interleaved(commands, bench.out, repetitions)
            for peer, series in found.items():
                rows.append(
                    [
                        f"{task} {name}",
                        peer.replace("_", "-"),
                        series.text(),
                        ratio_text(series, found["ours"]),
                        series.memory_text(),
                    ]
                )
            for left in file.parent.glob("beside*"):
                left.unlink()
            if task == "tag" and "onnx" in found:
                bars.append((name, ratio(found["onnx"], found["ours"])[0]))
        shutil.rmtree(ours.parent)
    bench.report.table(["task", "who", "time", "against ours", "peak memory"], rows)
    if bars:
        bench.report.picture(
            "tagging_against_onnx", svg.bars("tagging: how many times longer Python onnx takes; target 30", bars, 30)
        )


def first_layer(bench: Bench, model: Path) -> tuple[str, str, str] | None:
    """A module of the second level that can be cut out, and the names of the values at its border."""
    told = subprocess.run([bench.binary, "tree", model, "--format", "json"], capture_output=True, text=True, check=True)
    modules = json.loads(told.stdout)["modules"]
    candidates = [module["path"] for module in modules if module.get("tag", "") and module["path"].endswith(".0")]
    for selector in candidates:
        part, manifest = bench.work / "part" / "m.onnx", bench.work / "part" / "manifest.json"
        shutil.rmtree(part.parent, ignore_errors=True)
        part.parent.mkdir()
        command = [
            bench.binary,
            "extract",
            model,
            selector,
            "-o",
            part,
            "--keep-names",
            "--weights",
            "none",
            f"--manifest={manifest}",
            "-q",
        ]
        if subprocess.run([str(each) for each in command], capture_output=True, check=False).returncode != 0:
            continue
        border = json.loads(manifest.read_text())
        shutil.rmtree(part.parent)
        names = [[value["name"] for value in border[side]] for side in ("inputs", "outputs")]
        if all(names):
            return selector, ",".join(names[0]), ",".join(names[1])
    return None


def live(bench: Bench) -> None:
    if not bench.with_peers:
        return
    bench.report.section(
        "Export of a live model", "Capture included; the time of the call alone, in a process of its own, in turn."
    )
    rows, bars = [], []
    for name in bench.names if not bench.is_quick else bench.names[:1]:
        is_large = bench.captured(name)[0].stat().st_size > LARGE
        # The older exporter keeps a large model in memory several times over.
        kinds = ["modelexport", "dynamo"] if is_large else ["modelexport", "dynamo", "torchscript"]
        commands = {kind: [*PEERS, "live", name, bench.size, kind, bench.out / "m.onnx"] for kind in kinds}
        found = interleaved(commands, bench.out, 1 if bench.is_quick or is_large else 2)
        ours = found.get("modelexport")
        for kind in commands:
            if (series := found.get(kind)) is None:
                rows.append([name, kind, "fails", "", ""])
                continue
            against = ratio_text(ours, series) if ours else ""
            rows.append([name, kind, series.text(), against, series.memory_text()])
            if ours and kind != "modelexport":
                bars.append((f"{name}, {kind}", ratio(ours, series)[0]))
    bench.report.table(["model", "who", "time", "ours / theirs", "peak memory of the process"], rows)
    if bars:
        bench.report.picture(
            "live_against_torch", svg.bars("time of modelexport.export / time of torch.onnx.export", bars, 1.0)
        )


def run(bench: Bench) -> None:
    """The exported graphs themselves."""
    if not bench.with_peers:
        return
    bench.report.section(
        "What is exported",
        "Number of nodes, and onnxruntime's time for one run with all processors and default optimisation. A process each, in "
        "turn; medians over all runs.",
    )
    rows = []
    for name in bench.names if not bench.is_quick else bench.names[:1]:
        (source,) = bench.captured(name)
        theirs, ours = bench.made_by_torch(name), bench.work / "ours" / f"{name}.onnx"
        if theirs is None:
            rows.append([name, "", "torch fails", "", "", "", ""])
            continue
        ours.parent.mkdir(exist_ok=True)
        subprocess.run([bench.binary, "export", source, "-o", ours, "-q", "--overwrite"], check=True)
        times: dict[str, list[float]] = {"ours": [], "torch": []}
        nodes = {}
        for who, path in [("ours", ours), ("torch", theirs)] * 2:
            command = [str(each) for each in [*PEERS, "run_time", path, 5]]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f"  left out: {who} of {name}: {done.stderr.strip().splitlines()[-1][:160]}", flush=True)
                continue
            told = json.loads(done.stdout)
            times[who] += told["seconds"]
            nodes[who] = told["nodes"]
        if len(nodes) < 2:
            rows.append([name, *(str(nodes.get(who, "fails")) for who in times), "", "", "", ""])
            continue
        series = {who: Series(wall=values) for who, values in times.items()}
        spread = ratio_text(series["ours"], series["torch"])
        counts = [str(nodes["ours"]), str(nodes["torch"]), f"{nodes['ours'] / nodes['torch']:.2f}"]
        rows.append([name, *counts, series["ours"].text(), series["torch"].text(), spread])
        shutil.rmtree(ours.parent)
    bench.report.table(["model", "nodes", "torch's nodes", "ratio", "run time", "torch's", "ours / torch's"], rows)


SECTIONS = {"export": export, "start": start, "growth": growth, "tools": tools, "live": live, "run": run}
