"""Runs a model once and writes down what it did."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import torch

from modelexport import _native, inputs as model_inputs
from modelexport._native import TRACE_VERSION
from modelexport.capture import CAPTURE_LOCK
from modelexport.capture.state import untouched
from modelexport.kept_contents import kept_contents
from modelexport.tracing.metadata import HierarchyMetadata
from modelexport.tracing.model_tree import ModelTree
from modelexport.tracing.module_calls import ModuleCalls
from modelexport.tracing.recorder import OperatorRecorder
from modelexport.tracing.tensors import Tensors


class TracingHierarchyBuilder:
    """Hierarchy metadata of a live model from one forward pass in evaluation mode.

    Every module gets hooks for the time of the pass, and a dispatch mode sees every operator, so that nothing has to
    be known about the model. The model is left as it was, also when the pass fails.
    """

    def trace_model_execution(self, model: torch.nn.Module, inputs: Any) -> HierarchyMetadata:
        """Runs `model` on `inputs`: a tensor, a tuple of positional or a dict of keyword arguments."""
        args, kwargs = model_inputs.as_call(inputs)
        with CAPTURE_LOCK, untouched(model), kept_contents(model, args, kwargs), torch.no_grad():
            model.eval()
            tree = ModelTree(model)
            tensors = Tensors(tree.tensor_names)
            bound = []
            for name, tensor in model_inputs.named_tensors(model, args, kwargs):
                number = tensors.find(tensor)
                bound.append((name, tensors.add(tensor, {"input": name}) if number is None else number))
            calls = ModuleCalls(tree)
            recorder = OperatorRecorder(tensors, calls.innermost)
            with calls, operators_as_called(), recorder:
                result = model(*args, **kwargs)
            returned = [(name, tensors.read(tensor)) for name, tensor in named_outputs(result)]
        return HierarchyMetadata(
            schema_version=TRACE_VERSION,
            generator={"name": "modelexport", "version": _native.__version__},
            torch_version=torch.__version__,
            modules=tree.to_data(),
            tensors=tensors.entries,
            calls=calls.entries,
            ops=recorder.ops,
            inputs=[{"name": name, "tensor": number} for name, number in bound],
            outputs=[{"name": name, "tensor": number} for name, number in returned],
        )


@contextlib.contextmanager
def operators_as_called() -> Iterator[None]:
    """Operators reach a dispatch mode as the model calls them, which is also how exporters see them.

    Autograd would take composite operators apart first (`linear` into `t` and `addmm`), modules with a fast path would
    not call the modules inside them, compiled parts would run as something else, and models that ask whether they are
    being exported would take another branch.
    """
    with contextlib.ExitStack() as stack:
        for flag in ("_is_compiling_flag", "_is_exporting_flag"):
            stack.callback(setattr, torch.compiler, flag, getattr(torch.compiler, flag))
            setattr(torch.compiler, flag, True)
        stack.enter_context(torch._C._AutoDispatchBelowADInplaceOrView())
        fast_path = torch.backends.mha.get_fastpath_enabled()
        stack.callback(torch.backends.mha.set_fastpath_enabled, fast_path)
        torch.backends.mha.set_fastpath_enabled(False)
        if "torch._dynamo" in sys.modules:
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        yield


def named_outputs(result: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors that a model returned, by the keys that it gave them."""
    return model_inputs.leaves("" if model_inputs.has_keys(result) else "output", result)
