"""Hooks that follow which module call is running."""

from typing import Any, Self

import torch

from modelexport.tracing.model_tree import ModelTree, ModuleEntry


class ModuleCalls:
    """A context in which every module tells when a call of it begins and ends; the hooks are gone after it."""

    def __init__(self, tree: ModelTree):
        self.entries: list[dict[str, Any]] = []
        self._tree = tree
        self._running: list[int] = []
        self._handles: list[torch.utils.hooks.RemovableHandle] = []
        self._executed = 0

    def innermost(self) -> int:
        return self._running[-1] if self._running else 0

    def __enter__(self) -> Self:
        try:
            for entry in self._tree.entries:
                self._watch(entry)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._remove()

    def _remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _watch(self, entry: ModuleEntry) -> None:
        def begin(module: torch.nn.Module, args: tuple) -> None:
            if entry.order is None:
                entry.order = self._executed
                self._executed += 1
            parent = self._running[-1] if self._running else None
            self._running.append(len(self.entries))
            self.entries.append({"module": entry.index, "number": entry.calls, "parent": parent})
            entry.calls += 1

        def end(module: torch.nn.Module, args: tuple, result: Any) -> None:
            self._running.pop()

        # The user's own hooks run between these two, so that what they compute belongs to the module.
        self._handles.append(entry.module.register_forward_pre_hook(begin, prepend=True))
        self._handles.append(entry.module.register_forward_hook(end, always_call=True))
