"""What can go wrong, beside the exceptions that Python has itself.

A file that is missing is a `FileNotFoundError`, one that may not be replaced a `FileExistsError`, a wrong value a
`ValueError`, and so on. What the model's own `forward` or `torch.export` raises comes through as it is.
"""

import json
from dataclasses import dataclass
from typing import Any


class ModelExportError(Exception):
    """All exceptions of modelexport's own."""


class ExportError(ModelExportError, ValueError):
    """The program was captured but cannot be expressed in ONNX; the message names the node and the reason."""


@dataclass(frozen=True)
class UnsupportedOperator:
    """An operator that is not supported."""

    target: str
    """The ATen overload, such as `aten.special_airy_ai.default`."""
    count: int
    """How often the program uses it."""
    modules: list[str]
    """Paths of the modules that use it."""
    source: str | None
    """The line of Python that made the first use, where it is known."""
    from_opset: int | None
    """The lowest opset that supports it, if only the opset is too low."""
    decomposition: str
    """Whether torch can express it by other operators, or why not."""


class UnsupportedOperators(ExportError):
    """The program uses operators that are not supported. Nothing was written."""

    def __init__(self, message: str, opset: int, operators: list[UnsupportedOperator]):
        super().__init__(message)
        self.opset = opset
        self.operators = operators

    def __reduce__(self):
        return type(self), (str(self), self.opset, self.operators)

    @classmethod
    def of_native(cls, message: str, opset: int, operators: list[dict]) -> "UnsupportedOperators":
        return cls(message, opset, [UnsupportedOperator(**fields) for fields in operators])


class EvidenceMismatch(ModelExportError, ValueError):
    """The evidence is of another model than the ONNX file. Nothing was written; `force=True` tags all the same."""

    def __init__(self, message: str, fit: dict[str, Any] | None = None):
        super().__init__(message)
        self.fit = fit
        """What was measured, as the sidecar records it."""

    def __reduce__(self):
        return type(self), (str(self), self.fit)

    @classmethod
    def of_native(cls, message: str, output: bytes) -> "EvidenceMismatch":
        return cls(message, json.loads(output)["fit"] if output else None)


class InternalError(ModelExportError, RuntimeError):
    """A fault of modelexport itself."""
