"""`modelexport.decompose`: torch decomposes the unsupported operators of a captured program."""

import os
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from modelexport import _native

if TYPE_CHECKING:
    import torch


def decompose(
    program: "torch.export.ExportedProgram",
    *,
    opset_version: int | None = None,
    rules: str | os.PathLike[str] | None = None,
) -> "torch.export.ExportedProgram":
    """Decomposes the unsupported operators of a program with torch, and no others, so the rest stays compact.

    `modelexport.export` does this for a model or a program. For an archive, load, decompose and save it:

        program = torch.export.load("model.pt2")
        torch.export.save(modelexport.decompose(program), "decomposed.pt2")

    New nodes belong to the module that called the operator. `program` itself is not changed.

    Args:
        program: what `torch.export.export` or `torch.export.load` gave.
        opset_version: the ONNX opset to export with, from 14 to 24; 20 if not given.
        rules: the file of rules to export with: operators that it maps are not decomposed.

    Warns:
        UserWarning: an operator stays, because torch cannot decompose it into what can be exported.
    """
    from torch.export import ExportedProgram

    from modelexport.capture import CAPTURE_LOCK
    from modelexport.capture.decompose import decomposed

    if not isinstance(program, ExportedProgram):
        raise TypeError(f"program: expected an ExportedProgram, not {type(program).__name__}")
    opset = _native.DEFAULT_OPSET if opset_version is None else opset_version
    missing = partial(_native.missing_operators, opset=opset, rules=None if rules is None else Path(rules))
    with CAPTURE_LOCK:
        result, reasons = decomposed(program, missing)
    for target, reason in reasons.items():
        warnings.warn(f"{target} is not decomposed: {reason}", stacklevel=2)
    return result
