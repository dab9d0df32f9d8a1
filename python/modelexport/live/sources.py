"""Models by what a user types: a Hugging Face folder or id, or `package.module:factory`."""

import importlib
import sys
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import torch

from modelexport.models_on_meta import meta_model


@dataclass
class LiveModel:
    """A model that can be called, and what goes with it."""

    model: torch.nn.Module
    # Inputs that the factory gave with the model.
    inputs: Any = None
    # The Hugging Face folder or id, which may have a tokenizer.
    repository: str | None = None


def load(kind: str, source: str, trust_remote_code: bool, on_meta: bool = False) -> LiveModel:
    """The model in evaluation mode; that of a Hugging Face folder without its weights if asked."""
    if kind == "factory":
        live = from_factory(source)
    elif on_meta:
        live = LiveModel(meta_model(source, trust_remote_code=trust_remote_code), repository=source)
    else:
        live = from_hugging_face(source, trust_remote_code)
    live.model.eval()
    return live


def from_factory(source: str) -> LiveModel:
    """`package.module:name`: a function that gives the model, or the model and its inputs; a class; or the model."""
    module_name, _, path = source.partition(":")
    # As with `python -m`, modules of the working directory can be named.
    sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise ValueError(f"{source}: there is no module {error.name!r} for this Python ({sys.executable})") from error
    try:
        found = reduce(getattr, path.split("."), module)
    except AttributeError as error:
        raise ValueError(f"{source}: {error}") from error
    if not isinstance(found, torch.nn.Module):
        if not callable(found):
            raise ValueError(f"{source}: is a {type(found).__name__}; expected a function that gives an nn.Module")
        found = found()
    model, inputs = found if isinstance(found, tuple) and len(found) == 2 else (found, None)
    if not isinstance(model, torch.nn.Module):
        raise ValueError(f"{source}: gave a {type(model).__name__}; expected an nn.Module, or one with its inputs")
    return LiveModel(model, inputs)


def from_hugging_face(source: str, trust_remote_code: bool) -> LiveModel:
    try:
        import transformers
    except ImportError as error:
        raise ValueError(
            f"{source}: Hugging Face models need the package transformers, which this Python ({sys.executable}) lacks: "
            "pip install transformers"
        ) from error
    if Path(source).is_dir() and not Path(source, "config.json").exists():
        raise ValueError(f"{source}: has no config.json, so it is no folder of a Hugging Face model")
    try:
        model = from_cache_or_hub(source, trust_remote_code)
    except OSError as error:
        if Path(source).exists():
            raise ValueError(f"{source}: {error}") from error
        raise ValueError(
            f"{source}: is no file and no folder, and Hugging Face has no such model that can be reached from here or "
            "lies in the local cache"
        ) from error
    leave_caches_out(model.config)
    return LiveModel(model, repository=source)


def from_cache_or_hub(source: str, trust_remote_code: bool) -> torch.nn.Module:
    """What lies on this machine is taken without asking the network, which may not be there."""
    try:
        return from_pretrained(source, trust_remote_code, local_files_only=True)
    except OSError:
        if Path(source).exists():
            raise
        return from_pretrained(source, trust_remote_code)


def from_pretrained(source: str, trust_remote_code: bool, **options: Any) -> torch.nn.Module:
    import transformers

    options |= {"trust_remote_code": True} if trust_remote_code else {}
    config = transformers.AutoConfig.from_pretrained(source, **options)
    return class_of(config, source, trust_remote_code).from_pretrained(source, config=config, **options)


def leave_caches_out(config: Any) -> None:
    """A cache for the next token is Python's, not a tensor that a graph could return. Parts have their own setting."""
    parts = [part for part in vars(config).values() if hasattr(part, "to_dict") and hasattr(part, "model_type")]
    for part in [config, *parts]:
        if getattr(part, "use_cache", None):
            part.use_cache = False


def class_of(config: Any, source: str, trust_remote_code: bool) -> Any:
    """The class that the configuration names, as it was when the model was saved."""
    import transformers

    if auto_map := getattr(config, "auto_map", None):
        names = [name for name in auto_map if name.startswith("AutoModel")]
        if not trust_remote_code:
            raise ValueError(f"{source}: has code of its own; read it, then pass --trust-remote-code to run it")
        if names:
            return getattr(transformers, names[0])
    for name in config.architectures or ():
        if found := getattr(transformers, name, None):
            return found
    return transformers.AutoModel
