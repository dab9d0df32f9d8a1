"""`modelexport.export`: a live model, a captured program or an archive becomes a tagged ONNX file."""

import difflib
import inspect
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modelexport import _native
from modelexport.result import ExportResult

if TYPE_CHECKING:
    import torch

# Options of torch.onnx.export that are accepted with these values, which say what is done anyway.
_TORCH_OPTIONS: dict[str, tuple[Any, ...]] = {
    "dynamo": (True,),
    "optimize": (True,),
    "do_constant_folding": (True,),
    "keep_initializers_as_inputs": (False, None),
    "custom_translation_table": (None,),
    "custom_opsets": (None,),
    "report": (False,),
    "verify": (False,),
    "profile": (False, True),
    "dump_exported_program": (False,),
    "artifacts_dir": (".",),
    "autograd_inlining": (True,),
    "fallback": (False,),
}


def export(
    model: "torch.nn.Module | torch.export.ExportedProgram | str | os.PathLike[str]",
    args: Any = (),
    f: str | os.PathLike[str] | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    external_data: bool | None = None,
    overwrite: bool = True,
    modules: str | None = None,
    torch_nn_exceptions: Iterable[str] | None = None,
    rules: str | os.PathLike[str] | None = None,
    embed: str | Iterable[str] = ("doc-string", "metadata-props"),
    tag_format: str = "instance",
    weights: str | None = None,
    weights_from: str | os.PathLike[str] | None = None,
    strict: bool = False,
    source_info: bool = False,
    keep_batch_norm: bool = False,
    fuse: str = "standard",
    dynamic_axes: Mapping[str, Any] | None = None,
    export_params: bool = True,
    export_modules_as_functions: "bool | Iterable[type[torch.nn.Module] | str]" = False,
    verbose: bool | None = None,
    progress: Callable[[str], None] | None = None,
    **others: Any,
) -> ExportResult:
    """Exports a model to ONNX and records on every node which `nn.Module` instance it came from.

    Takes the arguments of `torch.onnx.export`. The model is not changed. torch decomposes unsupported operators and no
    others, so the rest of the graph stays compact.

    Args:
        model: an `nn.Module`, or an `ExportedProgram` or the path of a `.pt2` archive, which need no `args`.
        args: example inputs: a tuple (positional), a tensor, or a dict (keywords).
        f: the ONNX file to write. `<name>_hierarchy.json` is written beside it and, if the weights are external,
            `<name>.onnx.data`.
        kwargs: example keyword inputs.
        dynamic_shapes: as for `torch.export`. The names of `torch.export.Dim`, or strings, become the names of
            dimensions in the ONNX file.
        input_names, output_names: names for the first inputs and outputs; the others keep the names of the model.
        opset_version: the ONNX opset, from 14 to 24; default 20.
        external_data: True stores the weights in a separate file, False in the model; see `weights`.
        overwrite: False raises `FileExistsError` if a file exists.
        modules: which modules appear in tags: `model` (the default), `huggingface` or `all`.
        torch_nn_exceptions: classes of `torch.nn` that appear in tags; replaces norms and Embedding.
        rules: a rules file, see docs/rules.md.
        embed: where tags are stored on nodes: `doc-string`, `metadata-props`, both, or `none`.
        tag_format: `instance` (`/Model/Layer.0`) or `class` (`/Model/Layer`).
        weights: `auto` (the default: embed below 1 GiB, otherwise external), `embed`, `external`, `none`, or, for an
            archive or with `weights_from`, `reference`.
        weights_from: safetensors files with the weights of a model on the meta device: a folder with
            `model.safetensors.index.json` or `model.safetensors`, or one of these files. The ONNX file points into them,
            so they must be in its folder or below, unless `weights` says otherwise. See `modelexport.meta_model`.
        strict: passed to `torch.export`.
        source_info: also store the Python stack trace of each node, which contains local paths.
        keep_batch_norm: keep batch norms as nodes instead of folding them into the preceding convolution.
        fuse: `standard` (the default) replaces normalization, activation and rotary embedding that the model spells out by
            the operators that ONNX has for them at this opset (docs/fusions.md); `none` keeps them spelled out.
        dynamic_axes: the older form of `dynamic_shapes`, by names of inputs.
        export_params: False is `weights="none"`.
        export_modules_as_functions: classes whose modules become ONNX local functions, or selectors of modules
            (docs/analyze.md); True for all modules.
        verbose: print what was written and how long it took.
        progress: called with the name of each step when it starts: `trace` (the capture), `export` (lowering), `tag`,
            `write`.

    Raises:
        UnsupportedOperators: the program uses unsupported operators that torch cannot decompose or, for an archive,
            that were not decomposed (`modelexport.decompose`); lists all of them.
        ExportError: the program cannot be expressed in ONNX.
        FileExistsError, FileNotFoundError, PermissionError: errors of the operating system.
        ValueError, TypeError: an argument is invalid.
        Exceptions of the model's `forward` and of `torch.export` are not wrapped.
    """
    _check_others(others)
    output = _output_path(f)
    choices: dict[str, Any] = {
        "opset": _opset(opset_version),
        "weights": _weights(weights, external_data, export_params),
        "weights_from": None if weights_from is None else Path(weights_from),
        "overwrite": bool(overwrite),
        "embed": embed if isinstance(embed, str) else ",".join(embed) or "none",
        "source_info": bool(source_info),
        "keep_batch_norm": bool(keep_batch_norm),
        "fuse": fuse,
        "input_names": _names("input_names", input_names),
        "output_names": _names("output_names", output_names),
        "dimension_names": [],
        "modules": modules,
        "torch_nn_exceptions": None if torch_nn_exceptions is None else list(torch_nn_exceptions),
        "rules": None if rules is None else Path(rules),
        "tag_format": tag_format,
        "functions": _functions(export_modules_as_functions),
        "not_decomposed": None,
        "progress": progress or (lambda step: None),
    }
    if not choices["overwrite"] and os.path.lexists(output):
        # The capture may take minutes; the native part looks again.
        raise FileExistsError(17, "exists already; pass overwrite=True or choose another name", str(output))
    began = time.perf_counter()
    if isinstance(model, (str, os.PathLike)):
        _refuse_inputs(args, kwargs, "an archive")
        choices["dimension_names"] = _archive_dimension_names(dynamic_shapes)
        told = _native.export_archive(Path(model), output, choices)
        seconds = {}
    else:
        choices["progress"]("trace")
        captured = _capture(model, args, kwargs, dynamic_shapes, dynamic_axes, strict, choices)
        seconds = {"capture": time.perf_counter() - began}
        choices["dimension_names"] = captured.dimension_names
        choices["not_decomposed"] = captured.not_decomposed
        told = _native.export_program(captured.program, output, choices)
    summary, hierarchy, notes = told
    for note in notes:
        warnings.warn(note, stacklevel=2)
    result = ExportResult(summary, hierarchy, seconds)
    result.seconds["total"] = time.perf_counter() - began
    if verbose:
        print(f"{result!r} in {result.seconds['total']:.2f} s", file=sys.stderr)
    return result


def _capture(model, args, kwargs, dynamic_shapes, dynamic_axes, strict, choices):
    """The program in memory, in which torch has decomposed unsupported operators where it can."""
    try:
        import torch
    except ImportError as error:
        raise ImportError("live models are captured with torch, which is not installed: pip install torch") from error
    from modelexport.capture import capture_module, capture_program

    missing = partial(_native.missing_operators, opset=choices["opset"], rules=choices["rules"])
    if isinstance(model, torch.export.ExportedProgram):
        _refuse_inputs(args, kwargs, "an ExportedProgram")
        return capture_program(model, dynamic_shapes, missing=missing)
    if not isinstance(model, torch.nn.Module):
        raise TypeError(
            f"model: expected an nn.Module, an ExportedProgram or the path of a .pt2 archive, not {type(model).__name__}"
        )
    if isinstance(model, torch.jit.ScriptModule):
        raise TypeError("model: a ScriptModule cannot be captured; pass the nn.Module that it was made from")
    if model.training:
        warnings.warn(
            "the model is in training mode and is exported in training mode; call model.eval() first to export it for inference",
            stacklevel=3,
        )
    args, keywords = _call(args, kwargs)
    names = choices["input_names"]
    return capture_module(model, args, keywords, dynamic_shapes, dynamic_axes, names, strict, missing=missing)


def _call(args: Any, kwargs: Mapping[str, Any] | None) -> tuple[tuple, dict[str, Any]]:
    """Positional and keyword arguments, from the forms in which they may be given."""
    keywords = dict(kwargs or {})
    if isinstance(args, Mapping):
        return (), {**args, **keywords}
    if isinstance(args, (tuple, list)):
        return tuple(args), keywords
    return (args,), keywords


def _check_others(others: dict[str, Any]) -> None:
    for name, value in others.items():
        accepted = _TORCH_OPTIONS.get(name)
        if accepted is None:
            known = [*inspect.signature(export).parameters, *_TORCH_OPTIONS]
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"export() got an unexpected keyword argument {name!r}{hint}")
        if not any(value is each or value == each for each in accepted):
            raise TypeError(
                f"export() takes torch.onnx.export's {name!r} only as {accepted[0]!r}, which is its behavior; "
                f"{value!r} is not supported"
            )


def _output_path(f: Any) -> Path:
    if f is None:
        raise TypeError("export() needs `f`, the path of the ONNX file to write")
    if not isinstance(f, (str, os.PathLike)):
        raise TypeError(f"f: expected a path, not {type(f).__name__}")
    return Path(f)


def _opset(version: int | None) -> int:
    if version is None:
        return _native.DEFAULT_OPSET
    if isinstance(version, bool) or not isinstance(version, int):
        raise TypeError(f"opset_version: expected a number, not {version!r}")
    return version


def _weights(weights: str | None, external_data: bool | None, export_params: bool) -> str:
    given = {
        weights,
        None if external_data is None else "external" if external_data else "embed",
        None if export_params else "none",
    }
    asked = {mode for mode in given if mode is not None}
    if len(asked) > 1:
        raise ValueError(f"weights, external_data and export_params contradict each other: {', '.join(sorted(asked))}")
    return asked.pop() if asked else "auto"


def _names(what: str, names: Sequence[str] | None) -> list[str]:
    if isinstance(names, str):
        raise TypeError(f"{what}: expected a list of names, not one string")
    names = list(names or [])
    if bad := [name for name in names if not isinstance(name, str)]:
        raise TypeError(f"{what}: {bad[0]!r} is not a string")
    return names


def _functions(chosen: Any) -> str | None:
    """Selectors of the modules that become functions, joined by commas; nothing between them for all modules."""
    if isinstance(chosen, bool):
        return "" if chosen else None
    chosen = [chosen] if isinstance(chosen, (str, type)) else list(chosen)
    if bad := [each for each in chosen if not isinstance(each, (str, type)) or not each]:
        raise TypeError(f"export_modules_as_functions: {bad[0]!r} is neither a class of modules nor a selector")
    selectors = [each if isinstance(each, str) else f"class:{each.__module__}.{each.__qualname__}" for each in chosen]
    return ",".join(sorted(selectors)) or None


def _refuse_inputs(args: Any, kwargs: Any, what: str) -> None:
    has_args = args is not None and not (isinstance(args, (tuple, list, Mapping)) and not args)
    if has_args or kwargs:
        raise ValueError(f"{what} has its inputs already: leave args and kwargs out")


def _archive_dimension_names(shapes: Any) -> list[str]:
    """Names for the dimensions of an archive, which are dynamic or not since it was captured."""
    if shapes is None:
        return []
    if not isinstance(shapes, Mapping):
        raise ValueError("dynamic_shapes: for an archive, give names by input: {'input_ids': {0: 'batch'}}")
    named = (
        (name, axis, size if isinstance(size, str) else getattr(size, "__name__", ""))
        for name, axes in shapes.items()
        for axis, size in (axes.items() if isinstance(axes, Mapping) else enumerate(axes or ()))
    )
    # A dimension that is computed from another (`2*length`) has no symbol of its own to name.
    return [f"{name}:{axis}={text}" for name, axis, text in named if text.isidentifier()]
