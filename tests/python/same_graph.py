"""Whether two ONNX files hold the same graph: operators, attributes, topology and shapes, whatever the names."""

import ast
import hashlib
from pathlib import Path

import numpy
import onnx

import foreign_graphs

CLASSES = "pkg.torch.onnx.class_hierarchy"
# Integers up to this number are shapes, axes and the like: structure. Others are weights, whose contents do not count.
MOST_INTEGERS = 64


def digest(file: Path) -> str:
    """Equal for two files that hold the same graph and, where the nodes tell classes, tell the same."""
    model = onnx.load(file)
    known = {}
    for tensor in model.graph.initializer:
        known[tensor.name] = content(tensor)
    for i, value in enumerate(model.graph.input):
        known.setdefault(value.name, combined("input", i, value.type.SerializeToString(deterministic=True)))
    nodes = graph_nodes(model.graph, known)
    outputs = [(known.get(v.name, ""), v.type.SerializeToString(deterministic=True)) for v in model.graph.output]
    readers = {}
    # Weights of one shape are told apart by the nodes that read them.
    for node in foreign_graphs.nodes_of(model.graph):
        for place, name in enumerate(node.input):
            if node.output:
                readers.setdefault(name, []).append((known.get(node.output[0], ""), place))
    weights = sorted(combined(known[t.name], sorted(readers.get(t.name, []))) for t in model.graph.initializer)
    return combined(sorted(nodes), outputs, weights, classes(model))


def graph_nodes(graph, known):
    """The digest of each node; those of its outputs are added to `known`."""
    found = []
    for node in graph.node:
        inputs = [known.get(name, name and "outer") for name in node.input]
        attributes = sorted(attribute_digest(attribute, known) for attribute in node.attribute)
        mine = combined(node.domain, node.op_type, inputs, attributes, len(node.output))
        known.update({name: combined(mine, i) for i, name in enumerate(node.output)})
        found.append(mine)
    return found


def attribute_digest(attribute, known):
    if attribute.HasField("t"):
        return combined(attribute.name, content(attribute.t))
    if attribute.HasField("g"):
        inner = dict(known)
        inner.update({tensor.name: content(tensor) for tensor in attribute.g.initializer})
        inner.update({value.name: combined("inner input", i) for i, value in enumerate(attribute.g.input)})
        nodes = graph_nodes(attribute.g, inner)
        return combined(attribute.name, nodes, [inner.get(value.name, "") for value in attribute.g.output])
    bare = onnx.AttributeProto()
    bare.CopyFrom(attribute)
    bare.ClearField("doc_string")
    return combined(bare.SerializeToString(deterministic=True))


def content(tensor):
    """Type and shape, and what small integer tensors hold."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    size = int(numpy.prod(tensor.dims))
    holds = onnx.numpy_helper.to_array(tensor).tobytes() if dtype.kind in "biu" and size <= MOST_INTEGERS else b""
    return combined(tensor.data_type, list(tensor.dims), holds)


def classes(model):
    """What torch's metadata tells of the classes of modules, in order."""
    told = []
    for node in foreign_graphs.nodes_of(model.graph):
        entries = {entry.key: entry.value for entry in node.metadata_props}
        if CLASSES in entries:
            told.append([name for name in ast.literal_eval(entries[CLASSES]) if "." in name])
    return sorted(map(tuple, told))


def combined(*parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()
