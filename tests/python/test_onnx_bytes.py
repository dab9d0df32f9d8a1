"""The wire format against onnx itself: what we read, encode, tag and strip, over every model that onnx brings along.

One run of the example `onnx_bytes` handles all models; the tests look at the files that it leaves.
"""

import json
import random
import subprocess
import warnings
from pathlib import Path

import onnx
import pytest
from onnx.backend.test.case.node import collect_testcases

from support import ROOT

GROUPS = ["backend", "node", "unknown_fields", "odd_encoding", "own_texts"]
UNKNOWN_FIELDS = [
    b"\xc0\x3e\x07",  # 1000: a number
    b"\xca\x3e\x05later",  # 1001: text
    b"\xd5\x3e\x01\x02\x03\x04",  # 1002: four bytes
    b"\xdb\x3e\x08\x01\xdc\x3e",  # 1003: a group
]


def backend_models():
    folder = Path(onnx.__file__).parent
    return [path.read_bytes() for path in sorted(folder.glob("**/*.onnx"))]


def node_models():
    with warnings.catch_warnings(action="ignore"):  # numpy, about the infinities that some cases are made of
        return [case.model.SerializeToString() for case in collect_testcases(None)]


def messages(message):
    """A message and all messages inside it."""
    yield message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for inner in value if hasattr(value, "append") else [value]:
                yield from messages(inner)


def nodes(model):
    return [message for message in messages(model) if isinstance(message, onnx.NodeProto)]


def with_unknown_fields(data, choose):
    model = onnx.ModelProto.FromString(data)
    for message in list(messages(model)):
        for field in choose.sample(UNKNOWN_FIELDS, choose.randrange(3)):
            message.MergeFromString(field)
    return model.SerializeToString()


def varint(value, width=1):
    """A number in `width` bytes at least."""
    out = bytearray()
    while value >= 0x80 or len(out) + 1 < width:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def oddly_encoded(message, choose):
    """The same message with its fields in another order and lengths in more bytes than needed."""
    fields = message.ListFields()
    choose.shuffle(fields)
    out = b""
    for field, value in fields:
        alone = type(message)()
        if field.type != field.TYPE_MESSAGE:
            getattr(alone, field.name).extend(value) if hasattr(value, "append") else setattr(alone, field.name, value)
            out += alone.SerializePartialToString()
            continue
        for inner in value if hasattr(value, "append") else [value]:
            content = oddly_encoded(inner, choose)
            tag = varint(field.number << 3 | 2, choose.choice([1, 1, 2, 5]))
            out += tag + varint(len(content), choose.choice([1, 1, 2, 3, 5])) + content
    return out


def with_own_texts(data, choose):
    """Nodes that have texts and entries already, as torch writes them."""
    model = onnx.ModelProto.FromString(data)
    for node in nodes(model):
        if choose.random() < 0.7:
            node.doc_string = choose.choice(["", "said before", '{"note": "ünïcödé\\u0000"}', "two\nlines"])
        for key in choose.sample(["namespace", "pkg.torch.onnx.fx_node", "other"], choose.randrange(3)):
            node.metadata_props.add(key=key, value=choose.choice(["", "theirs"]))
    return model.SerializeToString()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """All models with what was made of them: `GROUP-NUMBER.onnx` and files beside it."""
    folder = tmp_path_factory.mktemp("onnx_bytes")
    choose = random.Random(0)
    backend, node = backend_models(), node_models()
    some = backend + node[::10]
    groups = {
        "backend": backend,
        "node": node,
        "unknown_fields": [with_unknown_fields(data, choose) for data in some],
        "odd_encoding": [oddly_encoded(onnx.ModelProto.FromString(data), choose) for data in some],
        "own_texts": [with_own_texts(data, choose) for data in some],
    }
    for name, models in groups.items():
        for number, data in enumerate(models):
            (folder / f"{name}-{number}.onnx").write_bytes(data)
    command = ["cargo", "run", "--quiet", "--package", "modelexport_io", "--example", "onnx_bytes", "--", folder]
    subprocess.run(command, cwd=ROOT, check=True)
    return folder


@pytest.fixture(params=GROUPS)
def models(request, folder):
    return sorted(folder.glob(f"{request.param}-*.onnx"))


def parsed(path):
    return onnx.ModelProto.FromString(path.read_bytes())


def content(model):
    """Everything that a model says, with unknown fields and with fields that are set to their default."""
    return model.SerializeToString(deterministic=True)


def test_all_models_of_onnx_are_there(folder):
    assert len(list(folder.glob("backend-*.onnx"))) >= 149
    assert len(list(folder.glob("node-*.onnx"))) > 1000


def test_every_model_is_read(models):
    errors = [path.with_suffix(".error") for path in models]
    assert [path.read_text() for path in errors if path.exists()] == []


def test_an_encoded_model_says_the_same_to_onnx(models):
    differing = [p.name for p in models if content(parsed(p.with_suffix(".encoded"))) != content(parsed(p))]
    assert differing == []


def test_stripping_gives_back_every_byte(models):
    assert [p.name for p in models if p.with_suffix(".stripped").read_bytes() != p.read_bytes()] == []


def test_onnx_sees_the_tags_on_every_node_and_nothing_else_changed(models):
    differing = []
    for path in models:
        model = parsed(path.with_suffix(".tagged"))
        for node in nodes(model):
            ours = json.loads(node.doc_string)
            assert ours["hierarchy_tags"]
            if "doc_string" in ours:
                node.doc_string = ours["doc_string"]
            else:
                node.ClearField("doc_string")
            is_own = [entry.key.startswith("modelexport.") for entry in node.metadata_props]
            del node.metadata_props[is_own.index(True) :]
        if content(model) != content(parsed(path)):
            differing.append(path.name)
    assert differing == []
