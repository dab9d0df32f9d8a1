"""Inputs that the user described on the command line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from modelexport.live.made_inputs import completed
from modelexport.live.sources import LiveModel, local_first
from modelexport.live.tensors import accepted_names, floating_dtype, random_tensor

SPEC = re.compile(r"(?P<name>[^:\[\]]+):(?P<shape>\[[^\]]*\])(:(?P<dtype>\w+))?")
# `np.savez` names arrays like this that were given without a name.
POSITIONAL = re.compile(r"(?:arr_|in|input_|arg)(\d+)")


@dataclass(frozen=True)
class Spec:
    """`input_ids:[1,128]:int64`; without a type the model's own floating-point type."""

    name: str
    sizes: tuple[int, ...]
    dtype: torch.dtype | None


def spec_of(text: str) -> Spec:
    match = SPEC.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"--inputs {text}: expected NAME:[SIZES]:TYPE, such as input_ids:[1,128]:int64")
    dtype = None if match["dtype"] is None else getattr(torch, match["dtype"], ...)
    if dtype is not None and not isinstance(dtype, torch.dtype):
        raise ValueError(f"--inputs {text}: {match['dtype']!r} is not an element type of torch")
    return Spec(match["name"].strip(), sizes(match["shape"], f"--inputs {text}"), dtype)


def from_specs(specs: list[Spec], model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Random numbers, one tensor for each description."""
    check_names([spec.name for spec in specs], model, "--inputs")
    return {
        spec.name: random_tensor(model, spec.name, spec.sizes, spec.dtype or floating_dtype(model)) for spec in specs
    }


def sizes(text: str, option: str) -> tuple[int, ...]:
    """`1,3,224,224`, also in brackets or with `x` between."""
    parts = [part for part in re.split(r"[,x\s]+", text.strip().strip("[]()")) if part]
    if not all(part.isdecimal() for part in parts):
        raise ValueError(f"{option}: expected sizes such as [1,3,224,224], not {text!r}")
    return tuple(map(int, parts))


def from_file(path: str, model: torch.nn.Module) -> Any:
    """The arrays of an `.npz` file, by the names of the arguments or, without names, in order."""
    import numpy as np

    try:
        with np.load(Path(path), allow_pickle=False) as data:
            arrays = {name: torch.from_numpy(data[name]) for name in data.files}
    except (ValueError, TypeError, AttributeError, EOFError) as error:
        raise ValueError(f"--inputs-from {path}: cannot be read as an .npz file of plain arrays: {error}") from error
    places = {int(match[1]): name for name in arrays if (match := POSITIONAL.fullmatch(name))}
    if len(places) == len(arrays) and not set(arrays) <= set(accepted_names(model) or ()):
        return tuple(arrays[name] for _, name in sorted(places.items()))
    check_names(arrays, model, f"--inputs-from {path}")
    return arrays


def from_text(texts: list[str], live: LiveModel, trust_remote_code: bool) -> dict[str, torch.Tensor]:
    """What the model's own tokenizer makes of the text, and what the model wants besides."""
    if live.repository is None:
        raise ValueError("--input-text: only a Hugging Face model has a tokenizer; describe its inputs with --inputs")
    tokenizer = tokenizer_of(live.repository, trust_remote_code)
    encoded = tokenizer(texts, return_tensors="pt", padding=len(texts) > 1)
    names = accepted_names(live.model)
    found = {name: value for name, value in encoded.items() if names is None or name in names}
    return completed(live.model, found, batch=len(texts))


def tokenizer_of(repository: str, trust_remote_code: bool) -> Any:
    import transformers

    load = transformers.AutoTokenizer.from_pretrained
    try:
        tokenizer = local_first(
            repository, lambda **where: load(repository, trust_remote_code=trust_remote_code, **where)
        )
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(
            f"--input-text: {repository} has no tokenizer that can be loaded ({type(error).__name__}: {reason}); "
            "describe its inputs with --inputs"
        ) from error
    # Some classes start without words if there is no file of them.
    files = sorted({"tokenizer.json", "tokenizer_config.json", *getattr(tokenizer, "vocab_files_names", {}).values()})
    if Path(repository).is_dir() and not any(Path(repository, file).exists() for file in files):
        raise ValueError(
            f"--input-text: {repository} has no tokenizer (none of {', '.join(files)} is there); "
            "describe its inputs with --inputs"
        )
    return tokenizer


def check_names(given: Iterable[str], model: torch.nn.Module, option: str) -> None:
    names = accepted_names(model)
    if names is not None and (unknown := [name for name in given if name not in names]):
        raise ValueError(f"{option}: the model has no input {unknown[0]!r}; it takes {', '.join(names)}")
