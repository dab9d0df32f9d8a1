"""Models by what a user types: a Hugging Face folder or id, or `package.module:factory`."""

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from importlib.machinery import PathFinder
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
    # Behind all others and only if it is needed: installed packages may try to import what is not installed.
    if PathFinder.find_spec(module_name.partition(".")[0]) is None:
        sys.path.append(str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise ValueError(
            f"{source}: module {error.name!r} cannot be imported by this Python ({sys.executable})"
        ) from error
    try:
        found = reduce(getattr, path.split("."), module)
    except AttributeError as error:
        where = getattr(module, "__file__", None) or "no file"
        raise ValueError(f"{source}: {error}; the module is {where}") from error
    if not isinstance(found, torch.nn.Module):
        if not callable(found):
            raise ValueError(f"{source}: is a {type(found).__name__}; expected a function that returns an nn.Module")
        found = found()
    model, inputs = found if isinstance(found, tuple) and len(found) == 2 else (found, None)
    if not isinstance(model, torch.nn.Module):
        raise ValueError(
            f"{source}: returned a {type(model).__name__}; expected an nn.Module, or an nn.Module and its inputs"
        )
    return LiveModel(model, inputs)


def from_hugging_face(source: str, trust_remote_code: bool) -> LiveModel:
    try:
        import transformers  # noqa: F401 (only to see that it is there)
    except ImportError as error:
        raise ValueError(
            f"{source}: Hugging Face models need the package transformers, which this Python ({sys.executable}) lacks: "
            "pip install transformers"
        ) from error
    if Path(source).is_dir() and not Path(source, "config.json").exists():
        raise ValueError(f"{source}: has no config.json, so it is not the folder of a Hugging Face model")
    try:
        model = local_first(source, lambda **where: from_pretrained(source, trust_remote_code, **where))
    except OSError as error:
        if Path(source).exists():
            raise ValueError(f"{source}: {error}") from error
        raise ValueError(
            f"{source}: is not a file or folder, and no Hugging Face model of this name can be downloaded or "
            "found in the local cache"
        ) from error
    leave_caches_out(model)
    return LiveModel(model, repository=source)


def local_first(source: str, load: Callable[..., Any]) -> Any:
    """What lies on this machine is taken without asking the network, which may not be there."""
    try:
        return load(local_files_only=True)
    except OSError:
        if Path(source).exists():
            raise
        return load()


def from_pretrained(source: str, trust_remote_code: bool, **where: Any) -> torch.nn.Module:
    config = configuration(source, trust_remote_code, **where)
    model_class = class_of(config, source, trust_remote_code)
    return model_class.from_pretrained(source, config=config, trust_remote_code=trust_remote_code, **where)


def configuration(source: str, trust_remote_code: bool, **where: Any) -> Any:
    import transformers

    try:
        # Without an answer transformers would ask for one on the terminal.
        config = transformers.AutoConfig.from_pretrained(source, trust_remote_code=trust_remote_code, **where)
    except ValueError as error:
        if trust_remote_code or "trust_remote_code" not in str(error):
            raise
        raise own_code(source) from error
    if not trust_remote_code and (kernels := hub_kernels(config)):
        raise ValueError(
            f"{source}: has code of others on the Hugging Face hub, {kernels[0]}; read it, then pass --trust-remote-code "
            "to run it"
        )
    return config


def hub_kernels(config: Any) -> list[str]:
    """Kernels that transformers would download and run because the configuration names them, as owner/name."""
    parts = [config, *(getattr(config, name, None) for name in getattr(config, "sub_configs", ()))]
    chosen = (getattr(part, f"_{what}_implementation", None) for part in parts for what in ("attn", "experts"))
    return [name for name in chosen if isinstance(name, str) and "/" in name]


def own_code(source: str) -> ValueError:
    return ValueError(f"{source}: contains code; review it, then pass --trust-remote-code to run it")


def leave_caches_out(model: torch.nn.Module) -> None:
    """A cache is for the next token, which a graph of one call does not have. Parts of a model may have settings of
    their own, and copies of the settings of the whole."""
    for module in model.modules():
        config = getattr(module, "config", None)
        if config is not None and getattr(config, "use_cache", None):
            config.use_cache = False


def class_of(config: Any, source: str, trust_remote_code: bool) -> Any:
    """The class that the model was saved from, as its configuration tells. One that transformers has is taken from there,
    unless the folder's own code is trusted."""
    import transformers

    names = config.architectures or []
    own = {
        name: where for name, where in (getattr(config, "auto_map", None) or {}).items() if name.startswith("AutoModel")
    }
    if own and trust_remote_code:
        saved = [name for name, where in own.items() if str(where).rpartition(".")[2] in names]
        return getattr(transformers, [*saved, *own][0])
    for name in names:
        found = getattr(transformers, name, None)
        if isinstance(found, type) and issubclass(found, torch.nn.Module):
            return found
    if own:
        raise own_code(source)
    return transformers.AutoModel
