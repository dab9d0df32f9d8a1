"""Makes the folder of one model: every graph that may be tagged, and everything that may be evidence for it.

| file | what |
|---|---|
| `model.pt2`, `trace.json` | evidence from PyTorch |
| `dynamo.onnx`, `torchscript.onnx` | from torch; `…_blind.onnx` is the same without metadata and inner names |
| `dynamo_anonymous.onnx` | blind, and the initializers have other names, too |
| `dynamo_batch.onnx`, `dynamo_dynamic.onnx` | exported with twice the batch, and with dynamic dimensions |
| `native.onnx`, `native_hierarchy.json` | modelexport's own export |
| `tagged.onnx`, `tagged_hierarchy.json` | torch's file, tagged by its own metadata |
| `tool/…` | the tagged file after a tool, without its tags |
| `native_tool/…` | modelexport's own export after a tool, without its tags |
| `inlined.onnx` | modelexport's own export, turned into functions and back, without its tags |
| `part.onnx`, `part_bare.onnx` | a module cut out of the tagged file, with and without tags |
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import onnx

import fit_models
import foreign_graphs
import retag_tools
import strategy_harness


def make(name: str, folder: Path, cli: Path, wanted: set[str] | None = None) -> list[str]:
    """Makes what is missing in `folder`, all or what is `wanted`. Returns what could not be made, with the reason."""
    import torch

    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    failed = []

    def step(target: str, do, *arguments):
        file = folder / target
        is_wanted = wanted is None or target in wanted
        if not is_wanted or file.exists() or (folder / f"{target}.failed").exists():
            return
        file.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            made = Path(scratch) / file.name
            try:
                do(*arguments, made)
                for output in Path(scratch).iterdir():
                    shutil.move(output, file.with_name(output.name))
            except Exception as error:  # noqa: BLE001 (a tool or an exporter that does not take this model)
                said = getattr(error, "stderr", None) or str(error)
                failed.append(f"{name} {target}: {' '.join(said.split())[:160]}")
                (folder / f"{target}.failed").write_text(said)

    is_base = fit_models.MODELS[name].differs is None
    built = fit_models.build(name)
    with torch.no_grad():
        step("model.pt2", strategy_harness.make_program, *built)
        step("trace.json", strategy_harness.make_trace, *built)
        step("dynamo.onnx", export_program, folder / "model.pt2", built)
        if is_base:
            step("dynamo_batch.onnx", export_twice_the_batch, built)
            step("dynamo_dynamic.onnx", export_dynamic, built)
        step("torchscript.onnx", strategy_harness.make_torchscript, *built)
    for exporter in ("dynamo", "torchscript"):
        step(f"{exporter}_blind.onnx", write_blind, folder / f"{exporter}.onnx")
    step("dynamo_anonymous.onnx", write_anonymous, folder / "dynamo_blind.onnx")

    def run(command, source, *options):
        return lambda target: subprocess.run(
            [cli, command, source, *options, "-o", target, "-q"], check=True, capture_output=True, text=True
        )

    step("tagged.onnx", run("tag", folder / "dynamo.onnx"))
    step("native.onnx", run("export", folder / "model.pt2"))
    for tool, make_with in (TOOLS if is_base else TOOLS_OF_VARIANTS).items():
        step(f"tool/{tool}.onnx", bare(make_with), folder / "tagged.onnx")
        step(f"native_tool/{tool}.onnx", bare(make_with), folder / "native.onnx")
    step("inlined.onnx", bare(lambda source, target: through_functions(cli, source, target)), folder / "native.onnx")
    if part := largest_part(folder / "tagged_hierarchy.json"):
        step("part.onnx", run("extract", folder / "tagged.onnx", part))
        step("part_bare.onnx", bare(shutil.copy), folder / "part.onnx")
    return failed


def export_program(program: Path, built, target: Path):
    import torch

    _, args, kwargs = built
    loaded = torch.export.load(program)
    torch.onnx.export(loaded, args, target, kwargs=kwargs, dynamo=True, external_data=False, verbose=False)


def export_twice_the_batch(built, target: Path):
    import torch

    model, args, kwargs = built
    args = tuple(torch.cat([value, value]) for value in args)
    kwargs = {name: torch.cat([value, value]) for name, value in kwargs.items()}
    torch.onnx.export(model, args, target, kwargs=kwargs, dynamo=True, external_data=False, verbose=False)


def export_dynamic(built, target: Path):
    """Each dimension of an input is dynamic where the model allows it."""
    import torch

    model, args, kwargs = built
    values = [*args, *kwargs.values()]
    shapes = [dict.fromkeys(range(value.dim()), torch.export.Dim.AUTO) for value in values]
    shapes = (*shapes[: len(args)],) if args else dict(zip(kwargs, shapes, strict=True))
    program = torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=False)
    torch.onnx.export(program, args, target, kwargs=kwargs, dynamo=True, external_data=False, verbose=False)


def write_blind(source: Path, target: Path):
    foreign_graphs.write(foreign_graphs.blind(onnx.load(source)), target)


def write_anonymous(source: Path, target: Path):
    """Initializers are numbered, as by a tool that keeps no names."""
    model = onnx.load(source)
    names = {tensor.name: f"w{i}" for i, tensor in enumerate(model.graph.initializer)}
    for tensor in model.graph.initializer:
        tensor.name = names[tensor.name]
    for node in foreign_graphs.nodes_of(model.graph):
        node.input[:] = [names.get(name, name) for name in node.input]
    for value in [*model.graph.value_info, *model.graph.output]:
        value.name = names.get(value.name, value.name)
    foreign_graphs.write(model, target)


def bare(make_with):
    """The tool's file without tags, as from a tool that keeps no metadata."""

    def make_bare(source: Path, target: Path):
        make_with(source, target)
        model = onnx.load(target)
        for node in foreign_graphs.nodes_of(model.graph):
            node.ClearField("doc_string")
            del node.metadata_props[:]
        del model.metadata_props[:]
        target.unlink()
        foreign_graphs.write(model, target)

    return make_bare


def through_functions(cli: Path, source: Path, target: Path):
    functions = target.with_name("functions.onnx")
    for arguments in ([source, "--all", "-o", functions], [functions, "--inline", "-o", target]):
        subprocess.run([cli, "functions", *arguments, "-q"], check=True, capture_output=True, text=True)
    for made in (functions, functions.with_name("functions_hierarchy.json")):
        made.unlink()


def quantise_static(source: Path, target: Path):
    """QuantizeLinear and DequantizeLinear around the operators; the numbers come from one random input."""
    import numpy
    from onnxruntime import quantization

    class OneInput(quantization.CalibrationDataReader):
        def __init__(self):
            self.left = [{value.name: made_up(value.type.tensor_type) for value in onnx.load(source).graph.input}]

        def get_next(self):
            return self.left.pop() if self.left else None

    def made_up(kind):
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        shape = [dim.dim_value for dim in kind.shape.dim]
        return numpy.ones(shape, dtype) if dtype.kind in "biu" else numpy.random.default_rng(0).random(shape, dtype)

    quantization.quantize_static(str(source), str(target), OneInput(), quant_format=quantization.QuantFormat.QDQ)


def half(source: Path, target: Path):
    from onnxruntime.transformers import float16

    onnx.save(float16.convert_float_to_float16(onnx.load(source), keep_io_types=True), target)


TOOLS = retag_tools.TOOLS | {"quantize_static": quantise_static, "float16": half}
TOOLS_OF_VARIANTS = {name: TOOLS[name] for name in ("onnxruntime all", "quantize_dynamic", "onnxslim")}


def largest_part(sidecar: Path) -> str | None:
    """The module with most nodes that is no more than three quarters of the model."""
    if not sidecar.exists():
        return None
    described = json.loads(sidecar.read_text())
    paths = [node["module"] for node in described["nodes"]]

    def nodes(module):
        return sum(path == module or path.startswith(f"{module}.") for path in paths)

    modules = [module["path"] for module in described["modules"] if module["path"] and module["executed"]]
    counted = [(nodes(path), path) for path in modules]
    fitting = [(count, path) for count, path in counted if 3 <= count <= 0.75 * len(paths)]
    return max(fitting)[1] if fitting else None
