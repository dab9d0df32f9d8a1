"""Tensors to call a model with, and what its signature says about them."""

import inspect

import torch


def accepted_names(model: torch.nn.Module) -> list[str] | None:
    """Names of the arguments of `forward`; None if it takes any."""
    parameters = inspect.signature(model.forward).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters) and len(parameters) == 1:
        return None
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [parameter.name for parameter in parameters if parameter.kind not in variable]


def floating_dtype(model: torch.nn.Module) -> torch.dtype:
    """The type in which the model computes."""
    found = (parameter.dtype for parameter in model.parameters() if parameter.is_floating_point())
    return next(found, torch.get_default_dtype())


def random_tensor(model: torch.nn.Module, name: str, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Numbers that any model can take: whole ones are rows of its smallest table, masks let everything through."""
    generator = torch.Generator().manual_seed(0)
    if dtype is torch.bool or name.endswith("mask"):
        return torch.ones(shape, dtype=dtype)
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, generator=generator).to(dtype)
    tables = [module.num_embeddings for module in model.modules() if isinstance(module, torch.nn.Embedding)]
    return torch.randint(0, min(tables, default=2), shape, generator=generator).to(dtype)


def is_whole_number(model: torch.nn.Module, name: str) -> bool:
    """Whether the signature says that an argument holds whole numbers: by its annotation, else by its name."""
    parameter = inspect.signature(model.forward).parameters.get(name)
    annotation = str(parameter.annotation) if parameter is not None else ""
    if "LongTensor" in annotation or "IntTensor" in annotation:
        return True
    return "FloatTensor" not in annotation and name.endswith(("_ids", "ids"))
