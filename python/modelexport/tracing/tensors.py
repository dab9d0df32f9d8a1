"""Which tensor is which: numbers that stay the same for one tensor and are never an address."""

import weakref
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from modelexport.tracing.fingerprint import dtype_name, fingerprint


class Tensors:
    """The tensors of a forward pass by number. Nothing here keeps a tensor of the pass alive."""

    def __init__(self, tensor_names: dict[int, str]):
        self.entries: list[dict[str, Any]] = []
        self._tensor_names = tensor_names
        # By id of the tensor, which another tensor may get once the first is gone: hence the reference.
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        self._storages: dict[int, Storage] = {}
        self._storage_count = 0

    def find(self, tensor: torch.Tensor) -> int | None:
        """The number of a tensor that was seen before."""
        known = self._known.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None

    def read(self, tensor: torch.Tensor) -> int:
        """The number of a tensor that an operator reads."""
        found = self.find(tensor)
        if found is not None:
            return found
        if (name := self._tensor_names.get(id(tensor))) is not None:
            return self.add(tensor, {"parameter": name})
        # `tensor.data` makes another tensor without an operator; memory and layout tell that it is the same.
        storage = self._storage(tensor)
        if storage is not None and (twin := storage.layouts.get(layout(tensor))) is not None:
            self._known[id(tensor)] = (weakref.ref(tensor), twin)
            return twin
        content = fingerprint(tensor)
        return self.add(tensor, {"constant": {} if content is None else {"fingerprint": content}})

    def add(self, tensor: torch.Tensor, origin: dict[str, Any]) -> int:
        """A new number for a tensor."""
        number = len(self.entries)
        storage = self._storage(tensor)
        if storage is None:
            storage_number = self._next_storage()
        else:
            storage_number = storage.number
            storage.layouts[layout(tensor)] = number
        self.entries.append(
            {
                "shape": list(tensor.shape),
                "dtype": dtype_name(tensor.dtype),
                "storage": storage_number,
                "origin": origin,
            }
        )
        self._known[id(tensor)] = (weakref.ref(tensor), number)
        return number

    def _storage(self, tensor: torch.Tensor) -> "Storage | None":
        if tensor.layout is not torch.strided:
            return None
        try:
            storage = tensor.untyped_storage()
        except NotImplementedError:
            # Some subclasses of tensors have no memory of their own.
            return None
        found = self._storages.get(storage._cdata)
        if found is None or found.reference.expired():
            found = Storage(StorageWeakRef(storage), self._next_storage())
            self._storages[storage._cdata] = found
        return found

    def _next_storage(self) -> int:
        self._storage_count += 1
        return self._storage_count - 1


class Storage:
    """Memory that tensors share, and the latest tensor of each layout in it."""

    __slots__ = ("layouts", "number", "reference")

    def __init__(self, reference: StorageWeakRef, number: int):
        self.reference = reference
        self.number = number
        self.layouts: dict[tuple, int] = {}


def layout(tensor: torch.Tensor) -> tuple:
    return tensor.dtype, tensor.storage_offset(), tensor.shape, tensor.stride()
