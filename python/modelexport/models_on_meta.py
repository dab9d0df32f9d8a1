"""`modelexport.meta_model`: a Hugging Face model without its weights."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def meta_model(
    folder: str | os.PathLike[str],
    *,
    dtype: "torch.dtype | str | None" = None,
    trust_remote_code: bool = False,
) -> "torch.nn.Module":
    """Builds the model that a Hugging Face folder describes, in evaluation mode and without its weights.

    Only `config.json` is read. Parameters are on the meta device and take no memory, however large the model; buffers
    are computed as usual, because those that are not saved with a model (position tables, masks) exist nowhere else.
    Export it with `modelexport.export(model, args, "model.onnx", weights_from=folder)`.

    Args:
        folder: a folder with `config.json`.
        dtype: the type of the parameters, such as `torch.bfloat16`; that of the configuration if not given. It must be
            the one in the files.
        trust_remote_code: run the code that the folder brings along, if the configuration names some. Read it first.

    Raises:
        ValueError: the folder has no `config.json`, or its model is one that transformers does not know.
        ImportError: transformers is not installed.
    """
    from modelexport.live import sources

    path = Path(folder)
    if not (path / "config.json").is_file():
        raise ValueError(f"{path}: has no config.json, so it is not the folder of a Hugging Face model")
    try:
        import transformers  # noqa: F401 (only to see that it is there)
    except ImportError as error:
        raise ImportError(
            f"Hugging Face models need the package transformers, which this Python ({sys.executable}) lacks: "
            "pip install transformers"
        ) from error
    config = sources.configuration(str(path), trust_remote_code, local_files_only=True)
    model_class = sources.class_of(config, str(path), trust_remote_code)
    kind = _dtype(dtype if dtype is not None else getattr(config, "dtype", None))
    with parameters_on_meta():
        # Classes that choose another by the configuration have a public function for it, the chosen ones do not.
        if hasattr(model_class, "from_config"):
            model = model_class.from_config(config, dtype=kind, trust_remote_code=trust_remote_code)
        else:
            model = model_class._from_config(config, dtype=kind)
    sources.leave_caches_out(model)
    return model.eval()


def _dtype(dtype: Any) -> "torch.dtype":
    import torch

    if dtype is None:
        return torch.float32
    found = getattr(torch, dtype.removeprefix("torch."), None) if isinstance(dtype, str) else dtype
    if not isinstance(found, torch.dtype) or not found.is_floating_point:
        raise ValueError(f"dtype: {dtype!r} is not a floating-point type of torch")
    return found


@contextmanager
def parameters_on_meta() -> Iterator[None]:
    """Within the context, modules create their parameters on the meta device."""
    import torch

    register = torch.nn.Module.register_parameter

    def register_on_meta(module: torch.nn.Module, name: str, param: torch.nn.Parameter | None) -> None:
        register(module, name, param)
        kept = module._parameters[name]
        if kept is not None and not kept.is_meta:
            moved = torch.nn.Parameter(kept.detach().to("meta"), requires_grad=kept.requires_grad)
            # Libraries hang marks of their own on parameters.
            vars(moved).update(vars(kept))
            module._parameters[name] = moved

    setattr(torch.nn.Module, register.__name__, register_on_meta)
    try:
        yield
    finally:
        setattr(torch.nn.Module, register.__name__, register)
