"""The measurements, section by section. Each function writes its section of the report."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import measure
import svg
import synthetic
from measure import Series, interleaved, ratio, ratio_text, seconds
from regression import line, slope
from report import Report
from verdict import Target, verdict

ROOT = Path(__file__).resolve().parents[1]
PEERS = [sys.executable, ROOT / "benches" / "peers.py"]

LARGE = 1 << 30

# The cost of starting the command dominates below this size.
LEAST_COMPARED_WITH_CP = 100e6

EXPORT_AGAINST_CP = Target("1.2")
TORCH_AGAINST_EXPORT = Target("10", at_least=True)
START = Target("10 ms")
ONNX_AGAINST_TAG = Target("30", at_least=True)
NODES_AGAINST_TORCH = Target("1")
RUN_TIME_AGAINST_TORCH = Target("1.05")


@dataclass
class Bench:
    """The settings of one run."""

    report: Report
    binary: Path
    work: Path
    """Captured archives are cached here between runs."""
    size: str
    """`full` or `quick`."""
    names: list[str]
    with_peers: bool = True
    """Whether to compare with torch, onnx and onnxruntime."""

    @property
    def is_quick(self) -> bool:
        return self.size == "quick"

    @property
    def out(self) -> Path:
        return self.work / "out"

    def captured(self, *names: str) -> list[Path]:
        """Archives of models. Captures those that are missing."""
        folder = self.work / self.size
        folder.mkdir(parents=True, exist_ok=True)
        missing = [name for name in names if not (folder / f"{name}.pt2").exists()]
        if missing:
            print(f"  capturing {', '.join(missing)}", flush=True)
            command = [sys.executable, ROOT / "benches" / "models.py", self.size, folder, *missing]
            subprocess.run(command, check=True, capture_output=True)
        return [folder / f"{name}.pt2" for name in names]

    def torch_file(self, name: str) -> Path:
        """The path of the file that torch's exporter writes from an archive; cached between runs."""
        return self.work / self.size / f"{name}.torch.onnx"

    def torch_command(self, name: str) -> list[str | Path]:
        return [*PEERS, "torch_program", *self.captured(name), self.torch_file(name)]

    def made_by_torch(self, name: str) -> Path | None:
        """The same file, exported if it is missing. `None` if torch cannot export it."""
        if not self.torch_file(name).exists():
            try:
                measure.run(self.torch_command(name), Series())
            except measure.Failed as error:
                print(f"  left out: {error}", flush=True)
                self.torch_file(name).unlink(missing_ok=True)
                return None
        return self.torch_file(name)

    def measures_torch(self, name: str) -> bool:
        """Whether torch is measured for a model: in a quick run only for the first one."""
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
    """Reads a file into the page cache, so that the first command does not wait for the disk."""
    subprocess.run(["cat", path], stdout=subprocess.DEVNULL, check=True)


def export(bench: Bench) -> None:
    report = bench.report
    report.section(
        "Export of a .pt2",
        "The command runs with default options. It is compared with `cp` of the archive, and with torch: loading the program, "
        "`torch.onnx.export` and saving, without the start and the imports of Python. The commands run in turn, and archives are "
        "in the page cache. In each repetition `export` and `cp` run twice and the second run counts, because the time of a "
        "large copy depends on the memory that the previous command left. A ratio is the median over neighboring repetitions, "
        "with the minimum and the maximum.",
    )
    rows, against_cp, against_torch = [], [], []
    cp_cells, torch_cells = {}, {}
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
        if source.stat().st_size >= LEAST_COMPARED_WITH_CP:
            cp_cells[name] = row[-1]
        # torch takes so long that it would disturb the comparison with cp, so it runs in separate repetitions.
        is_long = bench.is_quick or source.stat().st_size > LARGE
        commands = {"torch": bench.torch_command(name), "ours": ours}
        found = interleaved(commands, bench.out, 1 if is_long else 2) if bench.measures_torch(name) else {}
        if theirs := found.get("torch"):
            against_torch.append((name, ratio(theirs, found["ours"])[0]))
            torch_cells[name] = ratio_text(theirs, found["ours"])
            row += [theirs.text(), torch_cells[name]]
            row.append(f"{exported.memory_text()} / {theirs.memory_text()}")
        else:
            row += ["", "", exported.memory_text()]
        rows.append(row)
    header = ["model", "archive", "export", "processor time", "cp", "export / cp", "torch", "torch / export"]
    report.table([*header, "peak memory, ours / torch's"], rows)
    report.text(
        verdict("export / cp of archives above 100 MB", cp_cells, EXPORT_AGAINST_CP),
        verdict("torch / export", torch_cells, TORCH_AGAINST_EXPORT),
    )
    report.picture(
        "export_against_cp", svg.bars("time of export / time of cp; target 1.2 above 100 MB", against_cp, 1.2)
    )
    if against_torch:
        report.picture("export_against_torch", svg.bars("how many times longer torch takes", against_torch))


def start(bench: Bench) -> None:
    bench.report.section(
        "Start-up and references",
        "`--weights reference` copies no weights, so its time depends on the graph alone. The target for an archive of 10 GB is "
        "100 ms plus 1 µs per byte of the graph's JSON. The weights of that archive are a hole in a sparse file.",
    )
    began = interleaved({"start": [bench.binary, "--version"]}, bench.out, 20)["start"]
    rows = [["start-up (`--version`)", "", began.text(), START.bound, began.memory_text()]]
    verdicts = [verdict("start-up", {"`--version`": began.text()}, START)]
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
        allowed = ""
        if source == hole:
            allowed = seconds(0.1 + json_bytes * 1e-6)
            verdicts.append(verdict("export by reference", {name: series.text()}, Target(allowed)))
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
    bench.report.text(*verdicts)


def growth(bench: Bench) -> None:
    report = bench.report
    report.section(
        "Growth",
        "The archives hold a chain of additions in modules of fifty nodes. `tree`, `tag` and `strip` process the file that "
        "`export` wrote. The slope is that of a least-squares line through the logarithms: 1 is linear, 2 is quadratic.",
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
    report.text(f"Slopes from {counts[1]:,} nodes: {slopes}. With fewer nodes, the start of the command dominates.")
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
    bench.report.text("A small Llama by number of layers:")
    bench.report.table(["layers", "export", "peak memory"], rows)
    base, per_layer, worst = line(points)
    bench.report.text(
        f"Least-squares line: {seconds(base)} plus {seconds(per_layer)} per layer. The largest deviation is {seconds(worst)}."
    )
    bench.report.picture("growth_in_layers", svg.curves("seconds by number of layers", {"export": points}, "layers"))


def tools(bench: Bench) -> None:
    """`tag`, `strip` and `extract` compared with Python libraries."""
    if not bench.with_peers:
        return
    bench.report.section(
        "Tag, strip, extract",
        "`tag` tags a file of torch's exporter, with the metadata in the file and with the archive as evidence. `strip` and "
        "`extract` process modelexport's own file; `extract` extracts one layer. `onnx` and `onnx-ir` load the file, set or clear "
        "the texts of every node and save it, or call their own function to extract. Each command runs in a separate process, "
        "without Python's start and imports. Ratios are those of neighboring repetitions. If the weights are in a data file, the "
        "output is written beside it. `cp` then copies the graph alone, and `onnx-ir` does not copy the weights of the extracted "
        "part, like `extract --weights reference`.",
    )
    rows, bars, cells = [], [], {}
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
                cells[name] = ratio_text(found["onnx"], found["ours"])
        shutil.rmtree(ours.parent)
    bench.report.table(["task", "who", "time", "against ours", "peak memory"], rows)
    bench.report.text(verdict("tagging, onnx / ours", cells, ONNX_AGAINST_TAG))
    if bars:
        bench.report.picture(
            "tagging_against_onnx", svg.bars("tagging: how many times longer Python onnx takes; target 30", bars, 30)
        )


def first_layer(bench: Bench, model: Path) -> tuple[str, str, str] | None:
    """The selector of an indexed module that can be extracted, and the names of its inputs and outputs."""
    tree = subprocess.run([bench.binary, "tree", model, "--format", "json"], capture_output=True, text=True, check=True)
    modules = json.loads(tree.stdout)["modules"]
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
        boundary = json.loads(manifest.read_text())
        shutil.rmtree(part.parent)
        names = [[value["name"] for value in boundary[side]] for side in ("inputs", "outputs")]
        if all(names):
            return selector, ",".join(names[0]), ",".join(names[1])
    return None


def live(bench: Bench) -> None:
    if not bench.with_peers:
        return
    bench.report.section(
        "Export of a live model",
        "The times include the capture. They are the times of the call alone; each call runs in a separate process, in turn.",
    )
    rows, bars = [], []
    for name in bench.names if not bench.is_quick else bench.names[:1]:
        is_large = bench.captured(name)[0].stat().st_size > LARGE
        # The TorchScript exporter holds several copies of the model in memory.
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
    """The exported graphs: their nodes, and their time in onnxruntime."""
    if not bench.with_peers:
        return
    bench.report.section(
        "Exported graphs",
        "The number of nodes, and the time of one run in onnxruntime with all processors and default optimization. Each model "
        "runs in a separate process, in turn. Times are medians over all runs.",
    )
    rows, node_cells, time_cells = [], {}, {}
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
            measured = json.loads(done.stdout)
            times[who] += measured["seconds"]
            nodes[who] = measured["nodes"]
        if len(nodes) < 2:
            rows.append([name, *(str(nodes.get(who, "fails")) for who in times), "", "", "", ""])
            continue
        series = {who: Series(wall=values) for who, values in times.items()}
        spread = ratio_text(series["ours"], series["torch"])
        counts = [str(nodes["ours"]), str(nodes["torch"]), f"{nodes['ours'] / nodes['torch']:.2f}"]
        node_cells[name], time_cells[name] = counts[-1], spread
        rows.append([name, *counts, series["ours"].text(), series["torch"].text(), spread])
        shutil.rmtree(ours.parent)
    bench.report.table(["model", "nodes", "torch's nodes", "ratio", "run time", "torch's", "ours / torch's"], rows)
    bench.report.text(
        verdict("nodes, ours / torch's", node_cells, NODES_AGAINST_TORCH),
        verdict("run time, ours / torch's", time_cells, RUN_TIME_AGAINST_TORCH),
    )


SECTIONS = {"export": export, "start": start, "growth": growth, "tools": tools, "live": live, "run": run}
