"""Writes torch_written.onnx: what torch's own exporter says about modules, in all the ways that it says it.

python crates/cli/tests/data/torch_written.py
"""

from pathlib import Path

import torch
from torch import nn

# Holds file names of the machine.
STACK_TRACE = "pkg.torch.onnx.stack_trace"


class Block(nn.Module):
    """Splits, so that torch leaves a node without scopes."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        first, second = torch.split(self.norm(self.linear(x)), 2, dim=1)
        return torch.cat([second, first], 1) + x.shape[0]


class Model(nn.Module):
    """A block under two names, a name with a quote, and a branch."""

    def __init__(self):
        super().__init__()
        self.block = Block()
        self.again = self.block
        self.named = nn.ModuleDict({"it's": nn.ReLU()})

    def forward(self, x):
        y = self.named["it's"](self.again(self.block(x)))
        return torch.cond(y.sum() > 0, lambda t: t + 1, lambda t: t * 2, (y,))


def strip_stack_traces(graph) -> None:
    for node in graph.node:
        kept = [entry for entry in node.metadata_props if entry.key != STACK_TRACE]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                strip_stack_traces(attribute.g)


def main() -> None:
    torch.manual_seed(0)
    shapes = ({0: torch.export.Dim("batch")},)
    program = torch.onnx.export(Model().eval(), (torch.randn(3, 4),), dynamic_shapes=shapes, dynamo=True, verbose=False)
    model = program.model_proto
    strip_stack_traces(model.graph)
    Path(__file__).with_suffix(".onnx").write_bytes(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
