"""Tools that make a new ONNX file from a tagged one, and the tags that return to what they made."""

import json
import subprocess
import tempfile
from pathlib import Path

import onnx

import foreign_graphs


def runtime(level):
    def optimise(source, target):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
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


# By name: what makes the new file from the old. onnxslim and onnxsim are needed only here.
TOOLS = {
    "onnxruntime basic": runtime("BASIC"),
    "onnxruntime extended": runtime("EXTENDED"),
    "onnxruntime all": runtime("ALL"),
    "onnxslim": slim,
    "onnxsim": simplify,
    "quantize_dynamic": quantise,
    "version_converter": convert,
}


def measure(cli, original, names=tuple(TOOLS)):
    """Pairs of tool and score: tags of nodes that survive it with name and operator, against those before.

    A tool that cannot read the model gives its error instead.
    """
    with tempfile.TemporaryDirectory() as folder:
        tagged = Path(folder) / "original.onnx"
        subprocess.run([str(cli), "tag", str(original), "-o", str(tagged), "-q"], check=True)
        before = json.loads(tagged.with_name("original_hierarchy.json").read_text())
        known = {(node["name"], node["op_type"]): node["module"] for node in before["nodes"] if node["name"]}
        for name in names:
            made = Path(folder) / "made.onnx"
            try:
                TOOLS[name](tagged, made)
                stripped = onnx.load(str(made))
            except Exception as error:  # noqa: BLE001 (whatever a tool raises for a model that it does not take)
                yield name, error
                continue
            for node in foreign_graphs.nodes_of(stripped.graph):
                node.ClearField("doc_string")
                del node.metadata_props[:]
            foreign_graphs.write(stripped, made)
            sidecar = foreign_graphs.tag(cli, made, "--from", tagged)
            truth = [known.get((node["name"], node["op_type"])) for node in sidecar["nodes"]]
            yield name, foreign_graphs.score(sidecar, truth)
