"""Measures strategies on graphs that torch's exporters wrote.

    python tests/python/strategy_harness.py --cli target/release/modelexport --foreign DIR --zoo DIR NAME...

`--foreign DIR/NAME/dynamo.onnx` and `torchscript.onnx` are what torch wrote, `--zoo DIR/NAME/model.pt2` is the evidence.
The truth is what torch says about a node: its name scopes (dynamo), or the scopes in node names (TorchScript). It is
taken away before tagging, together with all metadata, node names and value names ("blind"); inputs, outputs and
initializers keep their names. A node is exact if its tag is the tag of the module that torch says; its chain is right
if its tag names that module or one above it. `--strategy retag` tags dynamo's file, lets each tool change it, and
gives the tags back; it needs onnxslim and onnxsim besides what the tests need.
"""

import argparse
import ast
import copy
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import onnx

NAME_SCOPES = "pkg.torch.onnx.name_scopes"
NO_STACK = "_empty_nn_module_stack_from_metadata_hook"


def nodes_of(graph):
    """All nodes, those of subgraphs after the node that holds them: the order in which modelexport counts."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                yield from nodes_of(inner)


def dynamo_truth(model):
    """The module path of every node; `None` where torch does not say."""
    truth = []
    for node in nodes_of(model.graph):
        entries = {entry.key: entry.value for entry in node.metadata_props}
        scopes = ast.literal_eval(entries[NAME_SCOPES]) if NAME_SCOPES in entries else []
        known = len(scopes) > 1 and (scopes[0] == "" or scopes[0] == NO_STACK)
        path = scopes[-2] if known else None
        truth.append("" if path == NO_STACK else path and re.sub(r"@\d+", "", path))
    return truth


def unqualified(path):
    """What TorchScript calls a module: the end of its path from the last part that is no number."""
    parts = path.split(".")
    for i in range(len(parts) - 1, -1, -1):
        if not parts[i].isdigit():
            return ".".join(parts[i:])
    return path


def torchscript_truth(model, modules):
    """The module path of every node whose name has a scope."""
    by_name = {}
    for path in modules:
        by_name.setdefault(unqualified(path), []).append(path)

    def below(above, name):
        found = [p for p in by_name.get(name, []) if not above or p.startswith(above + ".")]
        least = min((p.count(".") for p in found), default=0)
        return [p for p in found if p.count(".") == least]

    def resolve(scope):
        at = ""
        for part in scope:
            found = below(at, part) or below(at, re.sub(r"_\d+$", "", part)) or by_name.get(part, [])
            if len(found) != 1:
                return None
            at = found[0]
        return at

    scopes = [n.name.split("/")[1:-1] if n.name.startswith("/") else None for n in nodes_of(model.graph)]
    return [None if scope is None else resolve(scope) for scope in scopes]


def blind(model):
    """A copy without metadata and without the names of nodes and of values inside the graph."""
    model = copy.deepcopy(model)
    del model.metadata_props[:]
    del model.graph.metadata_props[:]
    kept = {v.name for v in list(model.graph.input) + list(model.graph.output) + list(model.graph.initializer)}
    names = {}

    def rename(name):
        return name if name in kept or not name else names.setdefault(name, f"v{len(names)}")

    def strip(graph):
        for node in graph.node:
            node.ClearField("name")
            node.ClearField("doc_string")
            del node.metadata_props[:]
            node.input[:] = [rename(name) for name in node.input]
            node.output[:] = [rename(name) for name in node.output]
            for attribute in node.attribute:
                for inner in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                    for value in list(inner.input) + list(inner.output) + list(inner.initializer):
                        value.name = rename(value.name)
                    strip(inner)
        for value in graph.value_info:
            value.name = rename(value.name)
            del value.metadata_props[:]

    strip(model.graph)
    return model


def without_scopes(model):
    """A copy without torch's metadata; names stay."""
    model = copy.deepcopy(model)
    for node in nodes_of(model.graph):
        del node.metadata_props[:]
    return model


def tag(cli, source, *options):
    """Tags a file and returns its sidecar."""
    output = source.with_name("tagged.onnx")
    command = [*shlex.split(cli), "tag", str(source), "-o", str(output), "--overwrite", "-q", *map(str, options)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr.strip()[-400:])
    return json.loads(output.with_name("tagged_hierarchy.json").read_text())


def score(sidecar, truth, show=0, nodes=()):
    """Shares of nodes whose tag is exact, and whose tag is that of the true module or of one above it."""
    tags = {module["path"]: module["tag"] for module in sidecar["modules"]}
    known = exact = chain = 0
    wrong = Counter()
    for node, path in zip(sidecar["nodes"], truth, strict=True):
        if path is None or path not in tags:
            continue
        known += 1
        expected, found = tags[path], node["path"]
        exact += found == expected
        chain += expected == found or expected.startswith(found + "/")
        if found != expected:
            wrong[(node["op_type"], found, expected, node["method"])] += 1
    for row, count in wrong.most_common(show):
        print("   ", count, *row)
    result = {"nodes": len(sidecar["nodes"]), "known": known, "coverage": sidecar["statistics"]["coverage"]}
    return result | {"exact": exact / max(known, 1), "chain": chain / max(known, 1)}


def measure(cli, strategy, foreign, evidence, modules, show=0):
    """Rows `(what, result)` of one strategy on one model."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "model.onnx"

        def run(what, model, truth, *options):
            source.write_bytes(model.SerializeToString())
            began = time.time()
            sidecar = tag(cli, source, "--strategy", strategy, *options)
            result = score(sidecar, truth, show) | {"seconds": round(time.time() - began, 3)}
            rows.append((what, result))

        for data in foreign.glob("*.data"):
            shutil.copy(data, folder)
        dynamo = foreign / "dynamo.onnx"
        if dynamo.exists():
            model = onnx.load(str(dynamo), load_external_data=False)
            truth = dynamo_truth(model)
            if strategy == "enhanced_semantic":
                run("dynamo metadata", model, truth, "--evidence", evidence)
                run("dynamo itself", model, truth)
            else:
                run("dynamo blind", blind(model), truth, "--evidence", evidence)
        torchscript = foreign / "torchscript.onnx"
        if torchscript.exists():
            model = onnx.load(str(torchscript), load_external_data=False)
            truth = torchscript_truth(model, modules)
            if strategy == "enhanced_semantic":
                run("torchscript names", without_scopes(model), truth, "--evidence", evidence)
            else:
                run("torchscript blind", blind(model), truth, "--evidence", evidence)
    return rows


def tools():
    """The tools after which tags must return: name and what makes the new file from the old."""

    def runtime(level):
        def optimise(source, target):
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
            options.optimized_model_filepath = str(target)
            onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])

        return optimise

    def slim(source, target):
        import onnxslim

        onnxslim.slim(str(source), str(target))

    def simplify(source, target):
        import onnxsim

        simplified, _ = onnxsim.simplify(str(source), perform_optimization=True)
        onnx.save(simplified, str(target))

    def quantise(source, target):
        from onnxruntime.quantization import quantize_dynamic

        quantize_dynamic(str(source), str(target))

    def convert(source, target):
        from onnx import version_converter

        onnx.save(version_converter.convert_version(onnx.load(str(source)), 21), str(target))

    return {
        "onnxruntime basic": runtime("BASIC"),
        "onnxruntime extended": runtime("EXTENDED"),
        "onnxruntime all": runtime("ALL"),
        "onnxslim": slim,
        "onnxsim": simplify,
        "quantize_dynamic": quantise,
        "version_converter": convert,
    }


def measure_retag(cli, original, names=None, show=0):
    """Rows `(tool, result)`: tags of nodes that survive a tool with name and operator, against those before."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        tagged = Path(folder) / "original.onnx"
        subprocess.run([*shlex.split(cli), "tag", str(original), "-o", str(tagged), "-q"], check=True)
        before = json.loads(tagged.with_name("original_hierarchy.json").read_text())
        known = {(n["name"], n["op_type"]): n["module"] for n in before["nodes"] if n["name"]}
        for name, tool in tools().items():
            if names and name not in names:
                continue
            made = Path(folder) / "made.onnx"
            try:
                tool(tagged, made)
                stripped = onnx.load(str(made))
            except Exception as error:  # some tools cannot read some models
                print(f"    {name}: {str(error)[:120]}")
                continue
            for node in nodes_of(stripped.graph):
                node.ClearField("doc_string")
                del node.metadata_props[:]
            made.write_bytes(stripped.SerializeToString())
            sidecar = tag(cli, made, "--from", tagged)
            truth = [known.get((node["name"], node["op_type"])) for node in sidecar["nodes"]]
            rows.append((name, score(sidecar, truth, show)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+")
    parser.add_argument("--cli", default="modelexport")
    parser.add_argument("--foreign", type=Path, required=True)
    parser.add_argument("--zoo", type=Path, required=True)
    parser.add_argument("--strategy", action="append")
    parser.add_argument("--update", type=Path, help="write the table into this document")
    parser.add_argument("--show", type=int, default=0, help="wrong tags to show for each model")
    options = parser.parse_args()
    shares = {}
    for name in options.names:
        evidence = options.zoo / name / "model.pt2"
        truth = json.loads((options.zoo / name / "truth.json").read_text())
        for strategy in options.strategy or ["enhanced_semantic", "usage_based"]:
            try:
                if strategy == "retag":
                    rows = measure_retag(options.cli, options.foreign / name / "dynamo.onnx", show=options.show)
                else:
                    rows = measure(
                        options.cli, strategy, options.foreign / name, evidence, truth["modules"], options.show
                    )
            except Exception as error:  # one model must not end the measurement
                print(f"{name} {strategy}: {error}")
                continue
            for what, result in rows:
                shares.setdefault((strategy, what), []).append(result)
                print(name, strategy, what, json.dumps(result), flush=True)
    lines = table(shares)
    print("\n".join(lines))
    if options.update:
        write_table(options.update, lines)


def table(shares):
    """The means as rows of a Markdown table."""
    lines = ["| strategy | on | models | exact | in chain | coverage |", "|---|---|---|---|---|---|"]
    for (strategy, what), results in sorted(shares.items()):
        means = [sum(result[key] for result in results) / len(results) for key in ("exact", "chain", "coverage")]
        cells = [f"`{strategy}`", what, str(len(results)), *(f"{100 * mean:.2f}%" for mean in means)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def write_table(document, lines):
    """Puts the table between the marks of a document."""
    begin, end = "<!-- measured: begin -->", "<!-- measured: end -->"
    before, rest = document.read_text().split(begin)
    _, after = rest.split(end)
    document.write_text(before + "\n".join([begin, *lines, end]) + after)


if __name__ == "__main__":
    sys.exit(main())
