"""The commands on modules beside what others offer, on one large file: `python benches/peer_tools.py model.pt2 layers.3`.

The graph is exported without weights, and all weights point into a sparse file of their size, so that a model of many
gigabytes takes no room on the disk. Every tool runs in a process of its own, in turn; the tables are Markdown. Needs
onnx, onnx-graphsurgeon, polygraphy and onnxsim (`pip install onnx-graphsurgeon polygraphy onnxsim`) and a release build.
"""

import argparse
import copy
import datetime
import importlib.metadata
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import measure

BINARY = Path(os.environ.get("MODELEXPORT_BIN", Path(__file__).parents[1] / "target" / "release" / "modelexport"))
# Data of a tensor begins at a multiple of this.
ALIGNMENT = 64


# ---- tasks: each in a process of its own, so that this one stays small (a child's peak memory counts its parent's)


def point_at_sparse_file(target: str) -> None:
    """Weights that were left out become zeros in a sparse file."""
    import onnx

    model = onnx.load(target)
    sidecar = json.loads(Path(target).with_name("model_hierarchy.json").read_text())
    weights = {parameter["name"] for module in sidecar["modules"] for parameter in module["parameters"]}
    left_out = [value for value in model.graph.input if value.name in weights]
    end = 0
    for value in left_out:
        model.graph.input.remove(value)
        kind = value.type.tensor_type
        dims = [size.dim_value for size in kind.shape.dim]
        tensor = model.graph.initializer.add(name=value.name, dims=dims, data_type=kind.elem_type)
        length = math.prod(dims) * onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type).itemsize
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, text in {"location": "weights.bin", "offset": end, "length": length}.items():
            tensor.external_data.add(key=key, value=str(text))
        end += -(-length // ALIGNMENT) * ALIGNMENT
    with open(Path(target).with_name("weights.bin"), "wb") as data:
        data.truncate(end)
    onnx.save(model, target)


def onnx_extract(source: str, target: str, inputs: str, outputs: str) -> None:
    import onnx.utils

    onnx.utils.extract_model(source, target, json.loads(inputs), json.loads(outputs), check_model=False)


def graphsurgeon_extract(source: str, target: str, inputs: str, outputs: str) -> None:
    """As its users do it: names of values, then clean-up. Weights are not loaded."""
    import onnx
    import onnx_graphsurgeon

    graph = onnx_graphsurgeon.import_onnx(onnx.load(source, load_external_data=False))
    tensors = graph.tensors()
    graph.inputs = [tensors[name] for name in json.loads(inputs)]
    graph.outputs = [tensors[name] for name in json.loads(outputs)]
    for tensor in graph.inputs:
        tensor.inputs.clear()
    graph.cleanup()
    onnx.save(onnx_graphsurgeon.export_onnx(graph), target)


def onnxsim_differences(before: str, *after: str) -> None:
    """For each file the rows of the table that onnxsim prints in which the counts of operators differ."""
    import onnx
    from onnxsim import model_info

    def counts(path: str) -> dict:
        return dict(model_info.ModelInfo(onnx.load(path, load_external_data=False)).op_nums)

    first = counts(before)
    others = [counts(path) for path in after]
    print(
        json.dumps([sorted(name for name in first | other if first.get(name) != other.get(name)) for other in others])
    )


def describe(path: str) -> None:
    """Nodes in the main graph, those with tags, and functions."""
    import onnx

    model = onnx.load(path, load_external_data=False)
    tagged = sum(any(entry.key == "modelexport.tag" for entry in node.metadata_props) for node in model.graph.node)
    print(json.dumps({"nodes": len(model.graph.node), "tagged": tagged, "functions": len(model.functions)}))


def plant(path: str, folder: str) -> None:
    """Writes changed copies of a model; prints their names by what was changed."""
    import onnx

    model = onnx.load(path, load_external_data=False)

    def changed(change):
        other = copy.deepcopy(model)
        change(other.graph)
        return other

    def operator(graph):
        node = next(node for node in graph.node if node.op_type == "Mul")
        node.op_type = "Add"

    def attribute(graph):
        node = next(
            node for node in graph.node if any(found.type == onnx.AttributeProto.INT for found in node.attribute)
        )
        found = next(found for found in node.attribute if found.type == onnx.AttributeProto.INT)
        found.i += 1

    def wiring(graph):
        node = next(node for node in graph.node if node.op_type == "MatMul")
        first, second = node.input[0], node.input[1]
        node.input[0], node.input[1] = second, first

    def added(graph):
        graph.node.add(op_type="Relu", name="planted", input=[graph.node[-1].output[0]], output=["planted"])

    def tag(graph):
        entry = next(entry for entry in graph.node[0].metadata_props if entry.key == "modelexport.module")
        entry.value = "elsewhere"

    def weight(graph):
        tensor = next(tensor for tensor in graph.initializer if tensor.raw_data)
        tensor.raw_data = bytes(byte ^ 1 for byte in tensor.raw_data)

    def rename(graph):
        graph.node[0].name = "renamed"

    def shape(graph):
        graph.value_info[0].type.tensor_type.shape.dim[0].dim_value = 7

    changes = {
        "none": lambda _: None,
        "a different operator": operator,
        "an additional node": added,
        "an attribute": attribute,
        "swapped inputs": wiring,
        "a declared shape": shape,
        "values of a weight": weight,
        "the module of a node": tag,
        "the name of a node": rename,
    }
    written = {}
    for at, (what, change) in enumerate(changes.items()):
        written[what] = str(Path(folder) / f"changed{at}.onnx")
        onnx.save(changed(change), written[what])
    print(json.dumps(written))


def session(path: str) -> None:
    """Least seconds of the processor, of seven, that onnxruntime takes to create a session in one thread."""
    import time

    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    taken = []
    for _ in range(7):
        began = time.process_time()
        onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        taken.append(time.process_time() - began)
    print(min(taken))


TASKS = {
    task.__name__: task
    for task in (
        point_at_sparse_file,
        onnx_extract,
        graphsurgeon_extract,
        onnxsim_differences,
        describe,
        plant,
        session,
    )
}


# ---- tables


def task(function, *arguments) -> list:
    return [sys.executable, __file__, "--task", function.__name__, *arguments]


def result_of(function, *arguments):
    return json.loads(subprocess.run(task(function, *arguments), check=True, capture_output=True, text=True).stdout)


def sparse_model(program: Path, folder: Path) -> Path:
    """The graph of `program` with weights that are zeros in a sparse file."""
    target = folder / "model.onnx"
    subprocess.run([BINARY, "export", program, "-o", target, "--weights", "none", "-q"], check=True)
    subprocess.run(task(point_at_sparse_file, target), check=True)
    return target


def tags_kept(path: Path) -> str:
    if not path.exists():
        return "no file"
    found = result_of(describe, path)
    return f"{path.stat().st_size / 1e3:,.0f} KB, {found['tagged']} of {found['nodes']} nodes keep their tags"


def extract_table(model: Path, selector: str, folder: Path) -> None:
    part = folder / "part.onnx"
    own = [BINARY, "extract", model, selector, "-o", part, "--weights", "reference", "--overwrite", "--keep-names"]
    said = subprocess.run([*own, "--format", "json"], check=True, capture_output=True, text=True)
    manifest = json.loads(said.stdout)["manifest"]
    ends = [json.dumps([value["value"] for value in manifest[end]]) for end in ("inputs", "outputs")]
    flags = [
        text
        for end, values in zip(["--inputs", "--outputs"], ends, strict=True)
        for text in [end, *polygraphy_names(values, end)]
    ]
    tools = {
        "`modelexport extract --weights reference`": own,
        f"`onnx.utils.extract_model` {version('onnx')}": task(onnx_extract, model, part, *ends),
        f"polygraphy {version('polygraphy')} `surgeon extract`": [
            sys.executable, "-c", "import polygraphy.tools; polygraphy.tools.main()",
            "surgeon", "extract", model, "-o", part, *flags,
        ],
        f"onnx-graphsurgeon {version('onnx-graphsurgeon')}, weights not loaded": task(graphsurgeon_extract, model, part, *ends),
    }  # fmt: skip
    print(
        f"\nCut out `{selector}`: {manifest['nodes']} nodes, {manifest['weights']['bytes'] / 1e6:,.0f} MB of weights.\n"
    )
    print("| tool | time | peak memory | result |\n|---|---|---|---|")
    for name, command in tools.items():
        part.unlink(missing_ok=True)
        row(name, command, lambda: tags_kept(part))


def polygraphy_names(names: str, end: str) -> list[str]:
    """Shapes and types follow from the file."""
    return [f"{name}:auto:auto" if end == "--inputs" else f"{name}:auto" for name in json.loads(names)]


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def row(name: str, command: list, result) -> None:
    series = measure.Series()
    try:
        measure.run(command, series)
    except RuntimeError as problem:
        last = str(problem).strip().splitlines()[-1][-120:]
        print(f"| {name} | | | fails: {last} |", flush=True)
        return
    print(f"| {name} | {series.median:.2f} s | {series.memory:,.0f} MB | {result()} |", flush=True)


def command_table(model: Path, selector: str, folder: Path) -> None:
    """Every command on the whole file, beside the limits that they have."""
    graph = model.stat().st_size / 1e6
    made, back = folder / "functions.onnx", folder / "back.onnx"
    weights = ["--weights", "reference"]
    commands = {
        "tree": ["tree", model],
        "analyze": ["analyze", model],
        "analyze --format model-explorer": ["analyze", model, "--format", "model-explorer"],
        "validate": ["validate", model],
        f"extract {selector}": ["extract", model, selector, "-o", folder / "p.onnx", *weights],
        "extract . (the root)": ["extract", model, ".", "-o", folder / "root.onnx", *weights],
        "functions --all": ["functions", model, "--all", "-o", made, *weights],
        "functions --inline": ["functions", made, "--inline", "-o", back, *weights],
        "compare with the inlined file": ["compare", model, back],
        "strip": ["strip", model, "-o", folder / "plain.onnx"],
    }
    print(f"\nAllowed: 2 s and 64 MB + 8 × {graph:.1f} MB of graph = {64 + 8 * graph:.0f} MB.\n")
    print("| command | time | peak memory |\n|---|---|---|")
    for name, arguments in commands.items():
        series = measure.Series()
        measure.run([BINARY, *arguments], series)
        print(f"| `{name}` | {series.median:.2f} s | {series.memory:.0f} MB |", flush=True)


def compare_table(model: Path, folder: Path) -> None:
    print(
        "\n| planted change | `modelexport compare` | the table that onnxsim "
        + version("onnxsim")
        + " prints |\n|---|---|---|"
    )
    planted = result_of(plant, model, folder)
    theirs = result_of(onnxsim_differences, model, *planted.values())
    for (what, changed), names in zip(planted.items(), theirs, strict=True):
        command = [BINARY, "compare", model, changed, "--format", "json"]
        ours = subprocess.run(command, capture_output=True, text=True, check=True)
        words = f"counts of {', '.join(names)}" if names else "no differences"
        print(f"| {what} | {our_words(json.loads(ours.stdout))} | {words} |", flush=True)


def our_words(comparison: dict) -> str:
    found = [("the model", difference) for difference in comparison["model"]]
    found += [(module["path"], difference) for module in comparison["modules"] for difference in module["differences"]]
    words = [f"{difference['kind']} in `{place}`" for place, difference in found]
    return (
        "; ".join(words[:2]) + (f" and {len(words) - 2} more" if len(words) > 2 else "") if words else "no differences"
    )


def session_table(model: Path, selector: str, folder: Path) -> None:
    """Size of the file and the time that onnxruntime takes for a session, as nodes and as functions."""
    print("\n| file | graph | nodes in the main graph | functions | session |\n|---|---|---|---|---|")
    made = {"as exported": []}
    made[f"`functions {selector}`"] = [selector]
    made["`functions --all --min-instances 2`"] = ["--all", "--min-instances", "2"]
    made["`functions --all`"] = ["--all"]
    for at, (name, chosen) in enumerate(made.items()):
        path = folder / f"session{at}.onnx"
        if chosen:
            subprocess.run(
                [BINARY, "functions", model, *chosen, "-o", path, "--weights", "reference", "-q"], check=True
            )
        else:
            shutil.copyfile(model, path)
        found = result_of(describe, path)
        sizes = f"{path.stat().st_size / 1e3:,.0f} KB | {found['nodes']:,} | {found['functions']}"
        print(f"| {name} | {sizes} | {result_of(session, path):.2f} s |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path, help="a saved torch.export program (.pt2)")
    parser.add_argument("selector", help="the module to cut out")
    parser.add_argument("--functions", metavar="SELECTOR", help="also measure sessions with these modules as functions")
    parser.add_argument("--skip-peers", action="store_true", help="only the commands of modelexport")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        model = sparse_model(given.program, folder)
        size = (folder / "weights.bin").stat().st_size
        print(
            f"{datetime.date.today()}, Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} processors."
        )
        print(f"Graph of {model.stat().st_size / 1e6:.1f} MB, {size / 1e9:.1f} GB of weights.")
        command_table(model, given.selector, folder)
        if not given.skip_peers:
            extract_table(model, given.selector, folder)
            compare_table(model, folder)
        if given.functions:
            session_table(model, given.functions, folder)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        TASKS[sys.argv[2]](*sys.argv[3:])
    else:
        main()
