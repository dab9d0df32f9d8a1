"""Files of any size that take no time to make: archives of a chain of additions, and holes where weights would be.

A hole is a part of a file that was never written: it reads as zeros and takes no room on the disk.
"""

import json
import struct
import zlib
from pathlib import Path

# Weights begin at multiples of this, as torch writes them.
ALIGNMENT = 64
LAYERS_OF = 50
LOCAL, CENTRAL, END_64, LOCATOR_64, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x06\x06", b"PK\x06\x07", b"PK\x05\x06"


def write_chain(path: Path, nodes: int, weight_bytes: int = 4096) -> int:
    """A chain of additions of one weight, in modules of fifty nodes. Returns the bytes of the graph's JSON."""
    meta = tensor_meta(weight_bytes // 4)
    config = {"block.w": {"path_name": "weight_0", "is_param": True, "use_pickle": False, "tensor_meta": meta}}
    program = chain(nodes, json.dumps(meta)).encode()
    with ArchiveWriter(path) as archive:
        archive.hole("m/data/weights/weight_0", weight_bytes)
        archive.entry("m/data/weights/model_weights_config.json", json.dumps({"config": config}).encode())
        archive.entry("m/data/constants/model_constants_config.json", b'{"config": {}}')
        archive.entry("m/models/model.json", program)
        archive.entry("m/archive_version", b"0")
        archive.entry("m/byteorder", b"little")
    return len(program)


def tensor_meta(elements: int) -> dict:
    return {
        "dtype": 7,
        "sizes": [{"as_int": elements}],
        "requires_grad": True,
        "device": {"type": "cpu", "index": None},
        "strides": [{"as_int": 1}],
        "storage_offset": {"as_int": 0},
        "layout": 7,
    }


def chain(nodes: int, meta: str) -> str:
    """The program, put together from texts: a million dictionaries would take longer than what is measured."""
    # Modules are called as they are in models, a node has a name, and neighbours share a stack.
    parts = []
    for i in range(nodes):
        before = f"add_{i - 1}" if i else "x"
        layer = i // LAYERS_OF
        parts.append(
            '{"target": "torch.ops.aten.add.Tensor", "inputs": ['
            f'{{"name": "self", "arg": {{"as_tensor": {{"name": "{before}"}}}}, "kind": 1}}, '
            '{"name": "other", "arg": {"as_tensor": {"name": "p_block_w"}}, "kind": 1}], '
            f'"outputs": [{{"as_tensor": {{"name": "add_{i}"}}}}], "metadata": {{"nn_module_stack": '
            f'"L__self__,,app.Model;L__self__layers.{layer},layers.{layer},app.Layer", '
            f'"torch_fn": "add_1;method_descriptor.add"}}, "is_hop_single_tensor_return": null, "name": "add_{i}"}}'
        )
    values = "".join(f', "add_{i}": {meta}' for i in range(nodes))
    last = f'{{"as_tensor": {{"name": "add_{nodes - 1}"}}}}'
    return "".join(
        [
            '{"graph_module": {"graph": {"inputs": [{"as_tensor": {"name": "p_block_w"}}, {"as_tensor": {"name": "x"}}], ',
            f'"outputs": [{last}], "nodes": [',
            ", ".join(parts),
            f'], "tensor_values": {{"p_block_w": {meta}, "x": {meta}{values}}}, "sym_int_values": {{}}, "sym_bool_values": {{}}}}, ',
            '"signature": {"input_specs": [{"parameter": {"arg": {"name": "p_block_w"}, "parameter_name": "block.w"}}, ',
            '{"user_input": {"arg": {"as_tensor": {"name": "x"}}}}], ',
            f'"output_specs": [{{"user_output": {{"arg": {last}}}}}]}}, ',
            '"module_call_graph": [{"fqn": "", "signature": null}]}, "opset_version": {}, "range_constraints": {}, ',
            '"schema_version": {"major": 8, "minor": 20}, "torch_version": "2.15.0"}',
        ]
    )


class ArchiveWriter:
    """A zip of stored entries with 64-bit sizes throughout; Python's own writer would write out the holes."""

    def __init__(self, path: Path):
        self._file = path.open("wb")
        self._records = []

    def __enter__(self) -> "ArchiveWriter":
        return self

    def __exit__(self, *_: object) -> None:
        start = self._file.tell()
        for name, size, checksum, offset in self._records:
            extra = struct.pack("<HHQQQ", 1, 24, size, size, offset)
            fields = (45, 45, 0, 0, 0, 33, checksum, 2**32 - 1, 2**32 - 1, len(name), len(extra), 0, 0, 0, 0, 2**32 - 1)
            self._file.write(CENTRAL + struct.pack("<HHHHHHIIIHHHHHII", *fields) + name + extra)
        end, count = self._file.tell(), len(self._records)
        self._file.write(END_64 + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, end - start, start))
        self._file.write(LOCATOR_64 + struct.pack("<IQI", 0, end, 1))
        self._file.write(END + struct.pack("<HHHHIIH", 0, 0, 2**16 - 1, 2**16 - 1, 2**32 - 1, 2**32 - 1, 0))
        self._file.close()

    def entry(self, name: str, data: bytes) -> None:
        self._header(name, len(data), zlib.crc32(data))
        self._file.write(data)

    def hole(self, name: str, size: int) -> None:
        # Nobody reads a weight of gigabytes only to compare its checksum.
        self._header(name, size, 0)
        self._file.seek(size - 1, 1)
        self._file.write(b"\0")

    def _header(self, name: str, size: int, checksum: int) -> None:
        offset, text = self._file.tell(), name.encode()
        zip64 = struct.pack("<HHQQ", 1, 16, size, size)
        padding = -(offset + 30 + len(text) + len(zip64) + 4) % ALIGNMENT
        extra = zip64 + struct.pack("<HH", 0x4246, padding) + b"Z" * padding
        fields = (45, 0, 0, 0, 33, checksum, 2**32 - 1, 2**32 - 1, len(text), len(extra))
        self._file.write(LOCAL + struct.pack("<HHHHHIIIHH", *fields) + text + extra)
        self._records.append((text, size, checksum, offset))


def write_safetensors(path: Path, tensors: dict[str, tuple[str, list[int]]], bytes_of: dict[str, int]) -> None:
    """A file of tensors, each of a type and a shape, whose contents are a hole."""
    header, end = {}, 0
    for name, (dtype, shape) in tensors.items():
        length = bytes_of[dtype]
        for size in shape:
            length *= size
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + length]}
        end += length
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)
