"""What others do for the same result. `python benches/peers.py TASK ARGUMENTS…`, one process for each measurement."""

import json
import statistics
import sys
import time

TAG = json.dumps({"hierarchy_tags": ["/Model/Layer.0"], "hierarchy_path": "/Model/Layer.0", "hierarchy_count": 1})


def torch_program(source: str, target: str) -> None:
    """`torch.onnx.export` of a saved program."""
    import torch

    torch.onnx.export(torch.export.load(source), dynamo=True, verbose=False).save(target)


def torch_live(name: str, size: str, kind: str, target: str) -> None:
    """`torch.onnx.export` of a live model."""
    import models
    import torch

    model, args, kwargs = models.build(name, size == "quick")
    began = time.perf_counter()
    with torch.no_grad():
        if kind == "dynamo":
            torch.onnx.export(model, args, target, kwargs=kwargs, dynamo=True, verbose=False)
        elif kind == "torchscript":
            torch.onnx.export(model, (*args, kwargs) if kwargs else args, target, dynamo=False)
        else:
            import modelexport

            modelexport.export(model, args, target, kwargs=kwargs)
    print(time.perf_counter() - began)


def tag_onnx(source: str, target: str) -> None:
    import onnx

    model = onnx.load(source)
    for node in model.graph.node:
        node.doc_string = TAG
    onnx.save(model, target)


def tag_onnx_ir(source: str, target: str) -> None:
    import onnx_ir

    model = onnx_ir.load(source)
    for node in model.graph:
        node.doc_string = TAG
    onnx_ir.save(model, target)


def run_time(*paths: str) -> None:
    """Node counts and onnxruntime's times for several files, in turn."""
    import numpy
    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    sessions = [onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]) for path in paths]

    def feeds(session):
        types = {"tensor(int64)": numpy.int64, "tensor(float)": numpy.float32}
        return {value.name: numpy.ones(value.shape, types[value.type]) for value in session.get_inputs()}

    inputs = [feeds(session) for session in sessions]
    times = [[] for _ in sessions]
    for repetition in range(12):
        for session, feed, series in zip(sessions, inputs, times, strict=True):
            began = time.perf_counter()
            session.run(None, feed)
            if repetition >= 2:
                series.append(time.perf_counter() - began)
    nodes = [len(onnx.load(path, load_external_data=False).graph.node) for path in paths]
    functions = [[statistics.median(series), min(series), max(series)] for series in times]
    print(json.dumps({"nodes": nodes, "seconds": functions}))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
