"""The tools of the command line as functions: the same names, the same options, dictionaries instead of text.

A function gives what its command prints with `--format json`. A negative finding (a file that is not valid, a
difference) is a result like any other; what the command would call an error is raised.
"""

import json
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from modelexport import _native

Path = str | os.PathLike[str]


def tree(
    file: Path,
    *,
    depth: int | None = None,
    modules: str | None = None,
    torch_nn_exceptions: Iterable[str] | None = None,
    rules: Path | None = None,
    tag_format: str | None = None,
) -> dict[str, Any]:
    """The modules of a `.pt2` or `.onnx` file, their tags, parameters and nodes."""
    policy = _policy(modules, torch_nn_exceptions, rules, tag_format)
    return _run("tree", file, depth=depth, **policy)


def operators(filter: str | None = None) -> list[dict[str, Any]]:
    """The supported operators: target, schema and lowest opset."""
    return _run("operators", filter)


def analyze(
    file: Path,
    *,
    module: str | None = None,
    by: str | None = None,
    depth: int | None = None,
    top: int | None = None,
    dim: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """What each module holds and costs. `dim` says what size a named dimension counts as."""
    sizes = [f"{name}={size}" for name, size in (dim or {}).items()]
    return _run("analyze", file, module=module, by=by, depth=depth, top=top, dim=sizes)


def strip(file: Path, output: Path, *, all_metadata: bool = False, overwrite: bool = False) -> dict[str, Any]:
    """Takes the tags out of a file again."""
    return _run("strip", file, output=output, all_metadata=all_metadata, overwrite=overwrite)


def tag(
    file: Path,
    output: Path,
    *,
    evidence: Path | None = None,
    from_: Path | None = None,
    strategy: str | None = None,
    force: bool = False,
    overwrite: bool = False,
    embed: str | Iterable[str] = ("doc-string", "metadata-props"),
    modules: str | None = None,
    torch_nn_exceptions: Iterable[str] | None = None,
    rules: Path | None = None,
    tag_format: str | None = None,
) -> dict[str, Any]:
    """Tags an ONNX file that another exporter wrote. `from_` gives tags back from the file that it was made from.

    The result has the measured `fit` of evidence and graph. Evidence of another model raises `EvidenceMismatch`, unless
    `force` is set: then every tag has low confidence."""
    policy = _policy(modules, torch_nn_exceptions, rules, tag_format)
    places = embed if isinstance(embed, str) else ",".join(embed) or "none"
    return _run(
        "tag",
        file,
        output=output,
        evidence=evidence,
        from_=from_,
        strategy=strategy,
        force=force,
        overwrite=overwrite,
        embed=places,
        **policy,
    )


def validate(
    file: Path, *, repair: bool = False, output: Path | None = None, overwrite: bool = False
) -> dict[str, Any]:
    """Whether the tags of a file are whole and agree with each other; `repair` mends what has one right answer."""
    return _run("validate", file, repair=repair, output=output, overwrite=overwrite)


def compare(before: Path, after: Path, *, no_weights: bool = False) -> dict[str, Any]:
    """How two tagged files differ, module by module."""
    return _run("compare", before, after, no_weights=no_weights)


def extract(
    file: Path,
    selector: str,
    output: Path,
    *,
    call: int | None = None,
    weights: str | None = None,
    manifest: bool | Path = False,
    keep_names: bool = False,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Cuts a module, or several, out of a tagged file into a model of its own."""
    return _run(
        "extract",
        file,
        selector,
        output=output,
        call=call,
        weights=weights,
        manifest=manifest,
        keep_names=keep_names,
        overwrite=overwrite,
    )


def functions(
    file: Path,
    selector: str | None = None,
    output: Path | None = None,
    *,
    all: bool = False,
    min_instances: int | None = None,
    inline: bool = False,
    weights: str | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Makes modules functions of the model, or puts their nodes back (`inline`)."""
    if output is None:
        raise TypeError("functions() needs `output`, the path of the ONNX file to write")
    return _run(
        "functions",
        file,
        selector,
        output=output,
        all=all,
        min_instances=min_instances,
        inline=inline,
        weights=weights,
        overwrite=overwrite,
    )


def strategies(
    source: Path,
    *,
    evidence: Path | None = None,
    differing: int | None = None,
    modules: str | None = None,
    torch_nn_exceptions: Iterable[str] | None = None,
    rules: Path | None = None,
    tag_format: str | None = None,
) -> dict[str, Any]:
    """How well each strategy finds out where the nodes of a file come from, and which one is recommended."""
    policy = _policy(modules, torch_nn_exceptions, rules, tag_format)
    return _run("strategies", source, evidence=evidence, differing=differing, **policy)


def weights(
    file: Path,
    output: Path | None = None,
    *,
    hash: bool = False,
    embed: bool = False,
    external: bool = False,
    reference: Path | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Where each weight of a file is, and whether it is what the file says; or puts the weights elsewhere: into the model
    (`embed`), beside it (`external`), or where safetensors files have them (`reference`)."""
    return _run(
        "weights",
        file,
        output=output,
        hash=hash,
        embed=embed,
        external=external,
        reference=reference,
        overwrite=overwrite,
    )


def _policy(
    modules: str | None, torch_nn_exceptions: Iterable[str] | None, rules: Path | None, tag_format: str | None
) -> dict[str, Any]:
    """Which modules show in tags, as every command that asks for it takes it."""
    exceptions = None if torch_nn_exceptions is None else ",".join(torch_nn_exceptions)
    return {"modules": modules, "torch_nn_exceptions": exceptions, "rules": rules, "tag_format": tag_format}


def _run(command: str, *positional: Any, **options: Any) -> Any:
    """Runs a command. Options that are None or False are left out, a list is an option given several times."""
    arguments = ["modelexport", command, "--format=json"]
    for name, value in options.items():
        # A name that Python keeps for itself has an underscore behind it.
        flag = f"--{name.rstrip('_').replace('_', '-')}"
        if value is True:
            arguments.append(flag)
        elif value is not None and value is not False:
            values = value if isinstance(value, list) else [value]
            arguments += [f"{flag}={_text(each)}" for each in values]
    # What follows is never an option, whatever a file is called.
    arguments += ["--", *(_text(each) for each in positional if each is not None)]
    _, output, said = _native.run_tool(arguments)
    for text in said:
        warnings.warn(text, stacklevel=3)
    return json.loads(output)


def _text(value: Any) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
