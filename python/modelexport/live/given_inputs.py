"""Inputs that the user described on the command line."""

import re
from pathlib import Path
from typing import Any

import torch

from modelexport.live.sources import LiveModel
from modelexport.live.tensors import accepted_names, floating_dtype, random_tensor

SPEC = re.compile(r"(?P<name>[^:\[\]]+):(?P<shape>\[[^\]]*\])(:(?P<dtype>\w+))?")
# `np.savez` names arrays like this that were given without a name.
POSITIONAL = re.compile(r"(?:arr_|in|input_|arg)(\d+)")


def from_specs(specs: list[str], model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """`input_ids:[1,128]:int64`, one for each input; without a type the model's own floating-point type."""
    inputs = {}
    for spec in specs:
        match = SPEC.fullmatch(spec.strip())
        if match is None:
            raise ValueError(f"--inputs {spec}: expected NAME:[SIZES]:TYPE, such as input_ids:[1,128]:int64")
        dtype = floating_dtype(model) if match["dtype"] is None else getattr(torch, match["dtype"], None)
        if not isinstance(dtype, torch.dtype):
            raise ValueError(f"--inputs {spec}: {match['dtype']!r} is no element type of torch")
        inputs[match["name"]] = random_tensor(model, match["name"], sizes(match["shape"], f"--inputs {spec}"), dtype)
    check_names(inputs, model, "--inputs")
    return inputs


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
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"--inputs-from {path}: cannot be read as an .npz file of plain arrays: {error}") from error
    order = {name: POSITIONAL.fullmatch(name) for name in arrays}
    if all(order.values()) and not set(arrays) <= set(accepted_names(model) or ()):
        return tuple(arrays[name] for name in sorted(arrays, key=lambda name: int(order[name][1])))
    check_names(arrays, model, f"--inputs-from {path}")
    return arrays


def from_text(texts: list[str], live: LiveModel, trust_remote_code: bool) -> dict[str, torch.Tensor]:
    """What the model's own tokenizer makes of the text."""
    if live.repository is None:
        raise ValueError("--input-text: only a Hugging Face model has a tokenizer; describe its inputs with --inputs")
    import transformers

    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(live.repository, trust_remote_code=trust_remote_code)
    except (OSError, ValueError, KeyError) as error:
        first_line = str(error).strip().partition("\n")[0]
        raise ValueError(f"--input-text: {live.repository} has no tokenizer that can be loaded: {first_line}") from error
    encoded = tokenizer(texts, return_tensors="pt", padding=len(texts) > 1)
    names = accepted_names(live.model)
    return {name: value for name, value in encoded.items() if names is None or name in names}


def check_names(inputs: dict[str, Any], model: torch.nn.Module, option: str) -> None:
    names = accepted_names(model)
    if names is not None and (unknown := [name for name in inputs if name not in names]):
        raise ValueError(f"{option}: the model has no input {unknown[0]!r}; it takes {', '.join(names)}")
