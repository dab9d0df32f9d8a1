"""The result of a trace: plain data that Rust reads as evidence."""

import json
from os import PathLike
from pathlib import Path
from typing import Any, Self

from modelexport import _native

# Their entries get a line each, so that large files stay readable and differences are small.
_LISTS = ("modules", "tensors", "calls", "ops", "inputs", "outputs")


class HierarchyMetadata(dict[str, Any]):
    """Modules, module calls and operator records of one forward pass, as a dict of plain JSON data.

    `docs/trace.md` describes the keys, `docs/trace.schema.json` is their JSON Schema.
    """

    @property
    def modules(self) -> list[dict[str, Any]]:
        """All of `named_modules()`, executed or not."""
        return self["modules"]

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Module calls, in the order in which they began."""
        return self["calls"]

    @property
    def ops(self) -> list[dict[str, Any]]:
        """Operators, in the order in which they ran."""
        return self["ops"]

    @property
    def tensors(self) -> list[dict[str, Any]]:
        """Tensors that operators read and made, in the order in which they were first seen."""
        return self["tensors"]

    def module_stack(self, op: dict[str, Any]) -> list[tuple[str, int]]:
        """Path and call number of each module that an operator ran in, from the root down."""
        stack = []
        call = op["call"]
        while call is not None:
            entry = self["calls"][call]
            stack.append((self["modules"][entry["module"]]["path"], entry["number"]))
            call = entry["parent"]
        return stack[::-1]

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """The trace as JSON text; written to `path`, too, if one is given. Equal traces give equal bytes."""
        dump = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
        fields = []
        for key, value in self.items():
            if key in _LISTS and value:
                lines = ",\n    ".join(map(dump, value))
                fields.append(f'  "{key}": [\n    {lines}\n  ]')
            else:
                fields.append(f'  "{key}": {dump(value)}')
        text = "{\n" + ",\n".join(fields) + "\n}\n"
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_json(cls, source: str | bytes | PathLike[str]) -> Self:
        """Reads what `to_json` wrote: the text itself, or the path of a file.

        Raises `ValueError` with place and reason for anything that is not a trace of a version that can be read.
        """
        if isinstance(source, (str, bytes)) and source.lstrip()[:1] in ("{", b"{"):
            name, data = "trace", source.encode() if isinstance(source, str) else source
        else:
            path = Path(source.decode() if isinstance(source, bytes) else source)
            name, data = str(source), path.read_bytes()
        _native.check_trace(data, name)
        return cls(json.loads(data))
