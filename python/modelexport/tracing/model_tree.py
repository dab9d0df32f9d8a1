"""What a model holds before it runs: modules, and the tensors that belong to them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from modelexport.model_tensors import own_tensors
from modelexport.tracing.fingerprint import dtype_name, fingerprint


@dataclass
class ModuleEntry:
    """One module instance and what the trace counts about it."""

    module: torch.nn.Module
    path: str
    index: int
    aliases: list[str] = field(default_factory=list)
    order: int | None = None
    calls: int = 0


class ModelTree:
    """All of `named_modules()`, each instance once, and all their tensors with names."""

    def __init__(self, model: torch.nn.Module):
        self.entries: list[ModuleEntry] = []
        # By id of the tensor: the first name. The model keeps the tensors alive; plain attributes are kept here.
        self.tensor_names: dict[int, str] = {}
        self._kept: list[torch.Tensor] = []
        by_module: dict[torch.nn.Module, ModuleEntry] = {}
        for path, module in model.named_modules(remove_duplicate=False):
            if known := by_module.get(module):
                known.aliases.append(path)
            else:
                by_module[module] = entry = ModuleEntry(module, path, len(self.entries))
                self.entries.append(entry)
        self._parameters = [list(self._describe(entry)) for entry in self.entries]

    def _describe(self, entry: ModuleEntry) -> Iterator[dict[str, Any]]:
        for kind, attribute, tensor in own_tensors(entry.module):
            name = f"{entry.path}.{attribute}" if entry.path else attribute
            first = self.tensor_names.setdefault(id(tensor), name)
            self._kept.append(tensor)
            described = {
                "name": name,
                "kind": kind,
                "shape": list(tensor.shape),
                "dtype": dtype_name(tensor.dtype),
            }
            if first != name:
                described["tied_to"] = first
            elif (sum_text := fingerprint(tensor)) is not None:
                described["fingerprint"] = sum_text
            yield described

    def to_data(self) -> list[dict[str, Any]]:
        """The `modules` of the trace."""
        return [
            {
                "path": entry.path,
                **({"aliases": entry.aliases} if entry.aliases else {}),
                "class": class_name(type(entry.module)),
                "executed": entry.calls > 0,
                "order": entry.order,
                "calls": entry.calls,
                "parameters": parameters,
            }
            for entry, parameters in zip(self.entries, self._parameters, strict=True)
        ]


def class_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
