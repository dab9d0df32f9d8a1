"""What others do for the same result. `python benches/peers.py TASK ARGUMENTS…`, one process for each measurement.

A task prints the seconds of its work alone: starting Python, importing packages and building a live model are nobody's
work.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

TAG = json.dumps({"hierarchy_tags": ["/Model/Layer.0"], "hierarchy_path": "/Model/Layer.0", "hierarchy_count": 1})


@contextmanager
def timed() -> Iterator[None]:
    began = time.perf_counter()
    yield
    print(time.perf_counter() - began)


def torch_program(source: str, target: str, opset: str | None = None) -> None:
    """`torch.onnx.export` of a saved program, and saving; torch's own opset unless another one is given."""
    import onnxscript  # noqa: F401 (torch would import it while the time runs)
    import torch

    _import_classes(source)
    with timed():
        version = None if opset is None else int(opset)
        torch.onnx.export(torch.export.load(source), dynamo=True, verbose=False, opset_version=version).save(target)


def _import_classes(source: str) -> None:
    """Torch must know the classes of inputs and outputs that an archive names."""
    import importlib
    import re
    import zipfile

    with zipfile.ZipFile(source) as archive:
        (program,) = [name for name in archive.namelist() if name.endswith("/models/model.json")]
        text = archive.read(program).decode()
    for module in sorted(set(re.findall(r'\\"type\\": \\"([\w.]+)\.\w+\\"', text))):
        importlib.import_module(module)


def live(name: str, size: str, kind: str, target: str) -> None:
    """Export of a live model, capture included."""
    import torch

    import models

    model, args, kwargs = models.build(name, size)
    if kind == "modelexport":
        import modelexport
    elif kind == "torchscript":
        model, args = models.by_position(model, args, kwargs)
    with torch.no_grad(), timed():
        if kind == "modelexport":
            modelexport.export(model, args, target, kwargs=kwargs)
        elif kind == "dynamo":
            torch.onnx.export(model, args, target, kwargs=kwargs, dynamo=True, verbose=False)
        else:
            torch.onnx.export(model, args, target, dynamo=False)


def tag_onnx(source: str, target: str) -> None:
    import onnx

    with timed():
        model = onnx.load(source)
        for node in model.graph.node:
            node.doc_string = TAG
        _save_onnx(model, target)


def tag_onnx_ir(source: str, target: str) -> None:
    import onnx_ir

    with timed():
        model = onnx_ir.load(source)
        for node in model.graph:
            node.doc_string = TAG
        _save_onnx_ir(model, target)


def strip_onnx(source: str, target: str) -> None:
    import onnx

    with timed():
        model = onnx.load(source)
        for node in model.graph.node:
            node.ClearField("doc_string")
            node.ClearField("metadata_props")
        _save_onnx(model, target)


def strip_onnx_ir(source: str, target: str) -> None:
    import onnx_ir

    with timed():
        model = onnx_ir.load(source)
        for node in model.graph:
            node.doc_string = None
            node.metadata_props.clear()
        _save_onnx_ir(model, target)


def extract_onnx(source: str, target: str, inputs: str, outputs: str) -> None:
    import onnx

    with timed():
        onnx.utils.extract_model(source, target, inputs.split(","), outputs.split(","), check_model=False)


def extract_onnx_ir(source: str, target: str, inputs: str, outputs: str) -> None:
    import onnx_ir

    with timed():
        model = onnx_ir.load(source)
        part = onnx_ir.convenience.extract(model.graph, inputs.split(","), outputs.split(","))
        _save_onnx_ir(onnx_ir.Model(part, ir_version=model.ir_version), target)


def run_time(path: str, repetitions: str) -> None:
    """The number of nodes, and the seconds of single runs in onnxruntime."""
    import os

    import numpy
    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    types = {"tensor(int64)": numpy.int64, "tensor(float)": numpy.float32}
    feed = {value.name: numpy.ones(value.shape, types[value.type]) for value in session.get_inputs()}
    times = []
    for repetition in range(int(repetitions) + 2):
        began = time.perf_counter()
        session.run(None, feed)
        # The first runs make plans and memory.
        if repetition >= 2:
            times.append(time.perf_counter() - began)
    nodes = len(onnx.load(path, load_external_data=False).graph.node)
    print(json.dumps({"nodes": nodes, "seconds": times}))


def _save_onnx(model, target: str) -> None:
    """As the size demands: protobuf ends at 2 GiB."""
    import onnx

    is_large = sum(len(tensor.raw_data) for tensor in model.graph.initializer) > 1 << 30
    onnx.save(model, target, save_as_external_data=is_large, location=f"{target.rsplit('/', 1)[-1]}.data")


def _save_onnx_ir(model, target: str) -> None:
    import onnx_ir

    is_large = sum(value.const_value.nbytes for value in model.graph.initializers.values()) > 1 << 30
    external = f"{target.rsplit('/', 1)[-1]}.data" if is_large else None
    onnx_ir.save(model, target, external_data=external)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
