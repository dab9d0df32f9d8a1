"""Time and memory of tagging by the number of nodes.

    python tests/python/strategy_growth.py --results docs/strategies-measured.json [--nodes 10000 20000 100000]

The graph is a stack of layers as blocks of transformers have them: products with weights, norms, and operators between
them, without names or metadata inside. Its trace is the evidence; for `fx_graph` it is a captured chain of operators,
and the graph is what modelexport exports from it. For `retag` it is the tagged file. Times are those of the processor,
user and system together, which other work on the machine changes least; they are the best of three runs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import foreign_graphs
import strategy_harness
import support

STRATEGIES = ["htp", "fx_graph", "enhanced_semantic", "usage_based", "retag"]
WIDTH = 4
PRODUCTS = 6
# Operators of ATen and ONNX that follow a product in a layer.
BETWEEN = [("sigmoid", "Sigmoid"), ("tanh", "Tanh"), ("relu", "Relu"), ("exp", "Exp"), ("neg", "Neg"), ("abs", "Abs")]
LAYER_NODES = 1 + PRODUCTS * (2 + len(BETWEEN)) + 1


class Stack:
    """A graph and its trace, layer by layer."""

    def __init__(self, layers):
        self.nodes, self.weights = [], []
        self.modules = [module("", "net.Net", 0)]
        self.calls = [{"module": 0, "number": 0, "parent": None}]
        self.tensors = [{"shape": [1, WIDTH], "dtype": "float32", "storage": 0, "origin": {"input": "x"}}]
        self.ops = []
        self.random = np.random.default_rng(0)
        self.last = "x", 0
        for layer in range(layers):
            self.add_layer(layer)

    def add_layer(self, number):
        path = f"layer.{number}"
        holder = self.call(path, "net.Layer", 0)
        start = self.last
        self.norm(f"{path}.norm", holder)
        for i in range(PRODUCTS):
            self.linear(f"{path}.linear{i}", holder)
            for aten, operator in BETWEEN:
                self.step(f"aten.{aten}.default", holder, [("self", self.last[1])], [(operator, [self.last[0]])])
        inputs = [("self", self.last[1]), ("other", start[1])]
        self.step("aten.add.Tensor", holder, inputs, [("Add", [self.last[0], start[0]])])

    def call(self, path, kind, parent):
        self.modules.append(module(path, kind, len(self.modules)))
        self.calls.append({"module": len(self.modules) - 1, "number": 0, "parent": parent})
        return len(self.calls) - 1

    def weight(self, name, *shape):
        tensor = self.random.standard_normal(shape, dtype=np.float32)
        self.weights.append(numpy_helper.from_array(tensor, name))
        fact = {"name": name, "kind": "parameter", "shape": list(shape), "dtype": "float32"}
        self.modules[-1]["parameters"].append(fact)
        self.tensors.append(self.tensor(shape, {"parameter": name}))
        return len(self.tensors) - 1

    def tensor(self, shape, origin):
        return {"shape": list(shape), "dtype": "float32", "storage": len(self.tensors), "origin": origin}

    def norm(self, path, parent):
        call = self.call(path, "torch.nn.modules.normalization.LayerNorm", parent)
        weight, bias = self.weight(f"{path}.weight", WIDTH), self.weight(f"{path}.bias", WIDTH)
        inputs = [("input", self.last[1]), ("weight", weight), ("bias", bias)]
        nodes = [("LayerNormalization", [self.last[0], f"{path}.weight", f"{path}.bias"])]
        self.step("aten.layer_norm.default", call, inputs, nodes)

    def linear(self, path, parent):
        call = self.call(path, "torch.nn.modules.linear.Linear", parent)
        weight, bias = self.weight(f"{path}.weight", WIDTH, WIDTH), self.weight(f"{path}.bias", WIDTH)
        inputs = [("input", self.last[1]), ("weight", weight), ("bias", bias)]
        nodes = [("MatMul", [self.last[0], f"{path}.weight"]), ("Add", [None, f"{path}.bias"])]
        self.step("aten.linear.default", call, inputs, nodes)

    def step(self, target, call, inputs, nodes):
        """One operator that ran, and the nodes that stand for it; `None` is the result of the node before."""
        for operator, operands in nodes:
            result = f"v{len(self.nodes)}"
            operands = [self.last[0] if operand is None else operand for operand in operands]
            self.nodes.append(helper.make_node(operator, operands, [result]))
            self.last = result, self.last[1]
        self.tensors.append(self.tensor([1, WIDTH], {"op": len(self.ops)}))
        read = [{"argument": argument, "tensor": tensor} for argument, tensor in inputs]
        self.ops.append({"target": target, "call": call, "inputs": read, "outputs": [len(self.tensors) - 1]})
        self.last = self.last[0], len(self.tensors) - 1

    def write(self, folder):
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, WIDTH]) for name in ("x", self.last[0])]
        graph = helper.make_graph(self.nodes, "graph", values[:1], values[1:], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
        onnx.save(model, str(folder / "model.onnx"))
        trace = {"schema_version": "1.0", "generator": {"name": "strategy_growth", "version": "1"}}
        trace |= {"torch_version": "2.15.0", "modules": self.modules, "tensors": self.tensors, "calls": self.calls}
        trace |= {"ops": self.ops, "inputs": [{"name": "x", "tensor": 0}]}
        trace |= {"outputs": [{"name": "output", "tensor": self.last[1]}]}
        (folder / "trace.json").write_text(json.dumps(trace))
        return sum(len(weight.raw_data) for weight in self.weights)


def module(path, kind, order):
    return {"path": path, "class": kind, "executed": True, "order": order, "calls": 1, "parameters": []}


# A process begins with the peak of the one that started it, so that a small one starts what is measured.
LAUNCHER = """
import os, sys
_, status, usage = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, os.waitstatus_to_exitcode(status))
"""


def measured(command, outputs):
    """Processor seconds and peak bytes of the fastest of three runs."""
    runs = []
    for _ in range(3):
        for output in outputs:
            output.unlink(missing_ok=True)
        launch = [sys.executable, "-I", "-S", "-c", LAUNCHER, *map(str, command)]
        seconds, memory, status = subprocess.run(launch, capture_output=True, text=True, check=True).stdout.split()
        if status != "0":
            raise RuntimeError(f"{command}: exit {status}")
        runs.append((float(seconds), int(memory)))
    return min(runs)


def rows(cli, nodes, strategies):
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        source, trace, output = folder / "model.onnx", folder / "trace.json", folder / "tagged.onnx"
        sidecar = output.with_name("tagged_hierarchy.json")
        for strategy in strategies:
            count, weights = nodes, 0
            options = ["--evidence", trace, "--strategy", strategy]
            if strategy == "fx_graph":
                count = captured_chain(cli, nodes, folder)
                options = ["--evidence", folder / "chain.pt2", "--strategy", strategy]
            else:
                layers = nodes // LAYER_NODES
                count, weights = layers * LAYER_NODES, Stack(layers).write(folder)
            if strategy == "retag":
                original = folder / "original.onnx"
                subprocess.run([cli, "tag", source, "-o", original, "--evidence", trace, "-q"], check=True)
                options = ["--from", original]
            command = [cli, "tag", source, "-o", output, "-q", *options]
            seconds, memory = measured(command, [output, sidecar])
            assert json.loads(sidecar.read_text())["statistics"]["coverage"] == 1.0
            size = source.stat().st_size - weights
            row = {"strategy": strategy, "nodes": count, "seconds": round(seconds, 3), "memory": memory}
            yield row | {"file": size, "allowed": 64_000_000 + 8 * size}
            for made in folder.iterdir():
                made.unlink()


def captured_chain(cli, nodes, folder):
    """A captured chain of operators and what is exported from it, without names inside."""
    sys.path.insert(0, str(support.ROOT / "benches"))
    import synthetic

    synthetic.write_chain(folder / "chain.pt2", nodes)
    exported = folder / "exported.onnx"
    subprocess.run([cli, "export", folder / "chain.pt2", "-o", exported, "-q"], check=True)
    foreign_graphs.write(foreign_graphs.blind(onnx.load(str(exported))), folder / "model.onnx")
    return nodes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cli", default=None, help="the command to measure (default: this repository's release build)")
    parser.add_argument("--nodes", type=int, nargs="+", default=[10_000, 20_000, 100_000])
    parser.add_argument("--strategy", action="append")
    parser.add_argument("--results", type=Path, help="add the rows to this file of strategy_harness.py")
    options = parser.parse_args()
    cli = str(Path(options.cli or support.binary()).resolve())
    found = []
    for nodes in options.nodes:
        for row in rows(cli, nodes, options.strategy or STRATEGIES):
            print(row, flush=True)
            found.append(row)
    if options.results:
        measured = json.loads(options.results.read_text())
        measured["growth"] = found
        strategy_harness.write_results(options.results, measured)


if __name__ == "__main__":
    sys.exit(main())
