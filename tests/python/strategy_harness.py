"""Measures the strategies on graphs that torch's exporters wrote, and writes the table of docs/strategies.md.

    python tests/python/strategy_harness.py make zoo.py NAME... --cases DIR
    python tests/python/strategy_harness.py measure --cases DIR --results docs/strategies-measured.json
    python tests/python/strategy_harness.py table docs/strategies-measured.json docs/strategies.md

`make` builds each model with `build(NAME)` of a Python file, which returns the model, its positional and its keyword
arguments with weights that are the same each time, and writes DIR/NAME/: `model.pt2` (torch.export), `trace.json`
(TracingHierarchyBuilder), `dynamo.onnx` and `torchscript.onnx` (torch.onnx.export) and `modules.json`.

`measure` tags every graph with every strategy and each evidence that allows it. The truth is what torch says about a
node: its name scopes (dynamo), or the scopes in node names (TorchScript). It is taken away before tagging, together
with all metadata, node names and value names ("blind"); inputs, outputs and initializers keep their names. Only
`enhanced_semantic` keeps torch's metadata (dynamo) or names (TorchScript). For `retag`, dynamo's file is tagged, each
tool changes it, and the tags of nodes that survive are compared; it needs onnxslim and onnxsim.
"""

import argparse
import importlib.util
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import onnx

import foreign_graphs
import retag_tools
import support

COUNTS = ("nodes", "known", "exact", "in_chain", "covered", "strays")


# ---- make


def make(options):
    import torch

    spec = importlib.util.spec_from_file_location("builder", options.builder)
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    torch.set_num_threads(1)
    for name in options.names:
        folder = options.cases / name.replace("/", "__")
        folder.mkdir(parents=True, exist_ok=True)
        for what, step in STEPS.items():
            if (folder / what).exists():
                continue
            try:
                model, args, kwargs = builder.build(name)
                with torch.no_grad():
                    step(model, args, kwargs, folder / what)
            except Exception as error:  # noqa: BLE001 (torch cannot export some models in some ways)
                print(f"{name} {what}: {str(error)[:200]}", flush=True)


def make_program(model, args, kwargs, target):
    import torch

    torch.export.save(torch.export.export(model, args, kwargs, strict=False), target)


def make_trace(model, args, kwargs, target):
    import modelexport

    modelexport.TracingHierarchyBuilder().trace_model_execution(model, kwargs or args).to_json(target)


def make_dynamo(model, args, kwargs, target):
    import torch

    torch.onnx.export(model, args, target, kwargs=kwargs, dynamo=True, external_data=True, verbose=False)


def make_torchscript(model, args, kwargs, target):
    import torch

    names = list(kwargs) or None
    if kwargs:
        forward = model.forward
        model.forward = lambda *tensors: forward(**dict(zip(names, tensors, strict=True)))
        args = tuple(kwargs.values())
    if hasattr(model, "config"):
        model.config.return_dict = False
    torch.onnx.export(model, args, target, dynamo=False, input_names=names, opset_version=17)


def make_modules(model, args, kwargs, target):
    """The other names of every module, by its first."""
    names = {}
    for path, module in model.named_modules(remove_duplicate=False):
        names.setdefault(id(module), []).append(path)
    target.write_text(json.dumps({first: others for first, *others in names.values()}))


STEPS = {
    "modules.json": make_modules,
    "model.pt2": make_program,
    "trace.json": make_trace,
    "dynamo.onnx": make_dynamo,
    "torchscript.onnx": make_torchscript,
}


# ---- measure


def measured(folder, strategies, cli):
    """Rows of one model: strategy, graph, evidence and score."""
    program, trace = folder / "model.pt2", folder / "trace.json"
    aliases = json.loads((folder / "modules.json").read_text())
    aliases = aliases if isinstance(aliases, dict) else dict.fromkeys(aliases, ())
    graphs = {}
    if (folder / "dynamo.onnx").exists():
        model = onnx.load(str(folder / "dynamo.onnx"), load_external_data=False)
        truth = foreign_graphs.dynamo_truth(model)
        graphs["dynamo blind"] = foreign_graphs.blind(model), truth
        graphs["dynamo metadata"] = model, truth
    if (folder / "torchscript.onnx").exists():
        model = onnx.load(str(folder / "torchscript.onnx"), load_external_data=False)
        truth = foreign_graphs.torchscript_truth(model, aliases)
        graphs["TorchScript blind"] = foreign_graphs.blind(model), truth
        graphs["TorchScript names"] = foreign_graphs.without_metadata(model), truth
    plan = [("fx_graph", "blind", program), ("htp", "blind", trace), ("htp", "blind", program)]
    plan += [("usage_based", "blind", trace), ("usage_based", "blind", program)]
    plan += [("enhanced_semantic", kind, trace) for kind in ("metadata", "names")]
    plan += [("enhanced_semantic", "metadata", None)]
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "model.onnx"
        for data in folder.glob("*.data"):
            shutil.copy(data, source.with_name(data.name))
        for graph, (model, truth) in graphs.items():
            foreign_graphs.write(model, source)
            for strategy, kind, evidence in plan:
                if strategy not in strategies or kind != graph.split()[1]:
                    continue
                if evidence and not evidence.exists():
                    continue
                given = ["--evidence", evidence] if evidence else []
                began = time.perf_counter()
                sidecar = foreign_graphs.tag(cli, source, "--strategy", strategy, *given)
                seconds = time.perf_counter() - began
                what = {program: ".pt2", trace: "trace"}.get(evidence, "the file itself")
                yield strategy, graph, what, foreign_graphs.score(sidecar, truth, aliases), seconds


def measure(options):
    results = []
    if options.add and options.results.exists():
        results = json.loads(options.results.read_text())["rows"]

    def add(name, strategy, graph, evidence, score, seconds=None):
        row = {"model": name, "strategy": strategy, "graph": graph, "evidence": evidence}
        row |= {what: getattr(score, what) for what in COUNTS}
        results.append(row if seconds is None else row | {"seconds": round(seconds, 3)})
        print(name, strategy, graph, evidence, f"{100 * score.share('exact'):.2f}% of {score.known}", end=" ")
        print(f"strays {score.strays}", flush=True)
        for wrong, count in score.wrong.most_common(options.show):
            print("   ", count, *wrong)

    for folder in sorted(path for path in options.cases.iterdir() if path.is_dir()):
        name = folder.name.replace("__", "/", 1)
        if options.names and name not in options.names:
            continue
        try:
            for row in measured(folder, options.strategy, options.cli):
                add(name, *row)
            if "retag" in options.strategy and (folder / "dynamo.onnx").exists():
                for tool, score in retag_tools.measure(options.cli, folder / "dynamo.onnx"):
                    if isinstance(score, Exception):
                        print(f"{name} retag {tool}: {str(score)[:120]}")
                    else:
                        add(name, "retag", tool, "tagged file", score)
        except Exception as error:  # noqa: BLE001 (one model must not end the measurement)
            print(f"{name}: {str(error)[:400]}", flush=True)
    if options.results:
        write_results(options.results, {"versions": versions(), "rows": results})
    print("\n".join(table(results)))


def write_results(target, measured):
    """One line for each row, so that differences are small."""
    parts = []
    for key, value in measured.items():
        lines = ",\n".join(json.dumps(row) for row in value) if isinstance(value, list) else None
        parts.append(f"{json.dumps(key)}: " + (json.dumps(value) if lines is None else f"[\n{lines}\n]"))
    target.write_text("{" + ",\n".join(parts) + "}\n")


def versions():
    from importlib.metadata import version

    return {name: version(name) for name in ("torch", "transformers", "timm", "torchvision", "onnx", "onnxruntime")}


# ---- table


def table(rows):
    """Means over models, each model counted once, as lines of a Markdown table."""
    groups = {}
    for row in rows:
        groups.setdefault((row["strategy"], row["graph"], row["evidence"]), []).append(row)
    lines = ["| strategy | graph | evidence | models | exact | worst model | in chain | coverage | sibling's tag |"]
    lines.append("|---|---|---|---|---|---|---|---|---|")
    for (strategy, graph, evidence), found in sorted(groups.items()):
        found = [row for row in found if row["known"]]
        shares = {what: [row[what] / row["known"] for row in found] for what in ("exact", "in_chain")}
        shares["covered"] = [row["covered"] / row["nodes"] for row in found]
        mean = {what: f"{100 * sum(values) / len(values):.2f}%" for what, values in shares.items()}
        cells = [f"`{strategy}`", graph, evidence, str(len(found)), mean["exact"]]
        cells += [f"{100 * min(shares['exact']):.2f}%", mean["in_chain"], mean["covered"]]
        cells += [f"{sum(row['strays'] for row in found)} of {sum(row['known'] for row in found):,}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def growth_table(rows):
    """Time and memory by the number of nodes; see strategy_growth.py."""
    if not rows:
        return []
    what = "Processor time and memory of `tag` by number of nodes (reading, placing, writing file and sidecar):"
    lines = ["", what, ""]
    lines += ["| strategy | nodes | file without weights | seconds | µs per node | memory | 64 MB + 8 × file |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: (row["strategy"], row["nodes"])):
        cells = [f"`{row['strategy']}`", f"{row['nodes']:,}", f"{row['file'] / 1e6:.1f} MB", f"{row['seconds']:.2f}"]
        cells += [f"{row['seconds'] / row['nodes'] * 1e6:.1f}"]
        cells += [f"{row[what] / 1e6:.0f} MB" for what in ("memory", "allowed")]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def write_table(options):
    """Puts the table between the marks of a document."""
    measured = json.loads(options.results.read_text())
    begin, end = "<!-- measured: begin -->", "<!-- measured: end -->"
    before, rest = options.document.read_text().split(begin)
    _, after = rest.split(end)
    used = ", ".join(f"{name} {version}" for name, version in measured["versions"].items())
    lines = [begin, *table(measured["rows"]), "", f"With {used}.", *growth_table(measured.get("growth", [])), end]
    options.document.write_text(before + "\n".join(lines) + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("make", help="build models, export and trace them")
    command.add_argument("builder", type=Path, help="Python file with build(NAME)")
    command.add_argument("names", nargs="+")
    command.add_argument("--cases", type=Path, required=True)
    command.set_defaults(run=make)
    command = commands.add_parser("measure", help="tag the graphs and score the tags")
    command.add_argument("names", nargs="*", help="models; all of the folder if none is named")
    command.add_argument("--cases", type=Path, required=True)
    command.add_argument(
        "--cli", default=None, help="the command to measure (default: this repository's release build)"
    )
    command.add_argument("--strategy", action="append", help="only this one (repeat for more)")
    command.add_argument("--results", type=Path, help="write all scores to this file")
    command.add_argument("--add", action="store_true", help="keep what the file of results has already")
    command.add_argument("--show", type=int, default=0, help="wrong tags to show for each model")
    command.set_defaults(run=measure)
    command = commands.add_parser("table", help="write the table of results into a document")
    command.add_argument("results", type=Path)
    command.add_argument("document", type=Path)
    command.set_defaults(run=write_table)
    options = parser.parse_args()
    if options.run is measure:
        options.cli = options.cli or support.binary()
        options.strategy = options.strategy or ["fx_graph", "htp", "enhanced_semantic", "usage_based", "retag"]
    options.run(options)


if __name__ == "__main__":
    sys.exit(main())
