"""Parameters, buffers and constants of a program: what they are, and where in memory their bytes lie."""

from typing import Any

import torch
from torch._subclasses.fake_tensor import is_fake

from modelexport.capture.tensor_meta import TensorMetas

# Name, address, length in bytes, and the object that keeps them.
Storage = tuple[str, int, int, Any]


class Weights:
    """Gathers the tensors of a program. Tensors that share memory share a storage, so that it is written once."""

    def __init__(self, metas: TensorMetas):
        self._metas = metas
        self._names: dict[int, str] = {}
        self._copies: dict[tuple[torch.device, int], torch.UntypedStorage] = {}
        self.storages: list[Storage] = []

    def config(self, tensors: dict[str, Any]) -> dict[str, Any]:
        """What an archive's configuration says of `tensors`, those that share memory side by side."""
        groups: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        for name, tensor in tensors.items():
            storage, entry = self._entry(tensor)
            groups.setdefault(storage, []).append((name, entry))
        return {"config": {name: entry for group in groups.values() for name, entry in group}}

    def _entry(self, tensor: Any) -> tuple[str, dict[str, Any]]:
        is_tensor = isinstance(tensor, torch.Tensor)
        # A subclass keeps its elements in ways of its own; the native part reports it if the graph needs it.
        is_opaque = not is_tensor or (type(tensor.data) is not torch.Tensor and not is_fake(tensor))
        entry = {
            "path_name": "",
            "is_param": isinstance(tensor, torch.nn.Parameter),
            "use_pickle": is_opaque,
            "tensor_meta": None,
        }
        if is_opaque:
            return f"opaque_{id(tensor)}", entry
        tensor = self._readable(tensor)
        entry["path_name"] = storage = self._storage(tensor)
        entry["tensor_meta"] = self._metas.of(tensor)
        return storage, entry

    def _readable(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor itself if its elements lie in this process's memory as they are, else a copy that does."""
        tensor = tensor.detach()
        if is_fake(tensor) or tensor.device.type == "meta":
            return tensor
        if tensor.layout is torch.strided and (tensor.is_conj() or tensor.is_neg()):
            tensor = tensor.resolve_conj().resolve_neg()
        if tensor.device.type != "cpu":
            tensor = self.in_memory(tensor) if tensor.layout is torch.strided else tensor.cpu()
        return tensor

    def in_memory(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor of another device over a copy of its storage, which is one for all tensors that share it."""
        storage = tensor.untyped_storage()
        key = (tensor.device, storage.data_ptr())
        if key not in self._copies:
            self._copies[key] = storage.cpu()
        made = torch.empty(0, dtype=tensor.dtype)
        return made.set_(self._copies[key], tensor.storage_offset(), tensor.shape, tensor.stride())

    def _storage(self, tensor: torch.Tensor) -> str:
        if tensor.layout is not torch.strided or tensor.device.type == "meta" or is_fake(tensor):
            return self._add(0, 0, None)
        storage = tensor.untyped_storage()
        address = storage.data_ptr()
        if address not in self._names:
            name = self._add(address, storage.nbytes(), storage)
            # An empty storage has no address by which to find it again.
            if not address:
                return name
            self._names[address] = name
        return self._names[address]

    def _add(self, address: int, length: int, owner: Any) -> str:
        name = f"storage_{len(self.storages)}"
        self.storages.append((name, address, length, owner))
        return name


def tied_names(tensors: dict[str, Any]) -> list[list[str]]:
    """Groups of names that stand for the same tensor object, which also tells where a tensor has no memory."""
    groups: dict[int, list[str]] = {}
    for name, tensor in tensors.items():
        groups.setdefault(id(tensor), []).append(name)
    return [names for names in groups.values() if len(names) > 1]
