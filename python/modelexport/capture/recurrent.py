"""Recurrent layers whose sequence may have any length.

`torch.export` keeps a recurrent layer as one operator, but finds the shapes of its results by going through the
sequence step by step, which fixes the length. Here one step is enough: the results of the others have the same shape.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._C import DispatchKey
from torch._subclasses.fake_tensor import FakeTensor

from modelexport.capture.lock import CAPTURE_LOCK
from modelexport.errors import ExportError

_LAYERS = ("lstm", "gru", "rnn_tanh", "rnn_relu")
# Where torch looks for an implementation in Python while it captures, with gradients and without.
_KEYS = (DispatchKey.Autograd, DispatchKey.CompositeImplicitAutograd)

PACKED = (
    "packed sequences (pack_padded_sequence) cannot be captured: their sizes depend on the values of the lengths. "
    "Give the recurrent layer the tensor itself: sequences of one length need no packing. With padding behind the end, a "
    "layer of one direction gives the same up to each end, and `gather` takes the last step; a second direction would read "
    "the padding first, so give it sequences of one length."
)


@contextmanager
def dynamic_recurrence() -> Iterator[None]:
    """Within the context, `torch.export` captures `nn.LSTM`, `nn.GRU` and `nn.RNN` for sequences of any length.

    `modelexport.export` does it by itself. Around your own capture it is needed where the length is dynamic:

        with modelexport.dynamic_recurrence():
            program = torch.export.export(model, args, dynamic_shapes=({1: torch.export.Dim("length")},))

    Captures of other threads are not affected.
    """
    with CAPTURE_LOCK:
        owner = _Owner()
        layers = [getattr(torch.ops.aten, name) for name in _LAYERS]
        packed = [torch.ops.aten._pack_padded_sequence.default, *(layer.data for layer in layers)]
        replaced = [_Replaced(layer.input, _one_step(layer.input, owner)) for layer in layers]
        replaced += [_Replaced(overload, _packed(overload, owner)) for overload in packed]
        try:
            yield
        finally:
            owner.thread = None
            for each in reversed(replaced):
                each.restore()


class _Owner:
    """The thread that captures. What torch still remembers of the kernels afterwards does what the old ones did."""

    def __init__(self) -> None:
        self.thread: int | None = threading.get_ident()

    def captures(self, *values: Any) -> bool:
        return self.thread == threading.get_ident() and any(isinstance(value, FakeTensor) for value in values)


class _Replaced:
    """An operator with a kernel of ours, until it is restored."""

    def __init__(self, overload: Any, kernel: Callable):
        self._overload = overload
        self._before = {key: overload.py_kernels.get(key) for key in _KEYS}
        self._set(dict.fromkeys(_KEYS, kernel))

    def restore(self) -> None:
        self._set(self._before)

    def _set(self, kernels: dict[DispatchKey, Callable | None]) -> None:
        for key, kernel in kernels.items():
            if kernel is None:
                self._overload.py_kernels.pop(key, None)
            else:
                self._overload.py_kernels[key] = kernel
        # torch remembers which kernel it took last time.
        self._overload._dispatch_cache.clear()


def _one_step(overload: Any, owner: _Owner) -> Callable:
    before = overload.py_kernels[DispatchKey.CompositeImplicitAutograd]

    def kernel(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
        rest = (hx, params, has_biases, num_layers, dropout, train, bidirectional)
        if not owner.captures(input) or input.dim() != 3:
            return before(input, *rest, batch_first)
        length, batch, size = (input.transpose(0, 1) if batch_first else input).shape
        if isinstance(length, int) and length == 0:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        # A tensor of its own instead of a slice, so that nothing is asked of the length.
        step, *states = before(input.new_empty(1, batch, size), *rest, False)
        output = step.new_empty(length, 1, 1) + step
        return (output.transpose(0, 1) if batch_first else output, *states)

    return kernel


def _packed(overload: Any, owner: _Owner) -> Callable:
    before = overload.py_kernels.get(DispatchKey.CompositeImplicitAutograd)

    def kernel(*args, **kwargs):
        if owner.captures(*args):
            raise ExportError(PACKED)
        if before is not None:
            return before(*args, **kwargs)
        with torch._C._DisablePythonDispatcher():
            return overload(*args, **kwargs)

    return kernel
