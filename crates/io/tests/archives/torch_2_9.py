"""Writes `torch_2_9.pt2` beside this file: an archive of the oldest torch whose archives are read (2.9.0, schema 8.14).

It is a capture by bytecode (`strict=True`), which spells the paths of modules in its own ways, and its nodes have no
names. Run it with torch 2.9.0, numpy and setuptools installed:

    python crates/io/tests/archives/torch_2_9.py
"""

from pathlib import Path

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 4)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.project(hidden).relu()


class Model(nn.Module):
    """Reaches its blocks by index, slice, key and attribute, and calls one of them twice."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(4))
        self.by_name = nn.ModuleDict({"a,b": Block()})
        self.pipeline = nn.Sequential(Block(), Block())
        self.again = Block()
        self.idle = Block()

    def forward(self, X: torch.Tensor) -> dict[str, torch.Tensor]:
        hidden = X
        for block in self.blocks[1:3]:
            hidden = block(hidden)
        hidden = self.blocks[0](hidden)
        hidden = self.by_name["a,b"](hidden)
        hidden = self.pipeline(hidden)
        hidden = self.again(self.again(hidden))
        values, indices = hidden.topk(2)
        return {"values": values, "indices": indices}


def main() -> None:
    torch.manual_seed(0)
    program = torch.export.export(
        Model().eval(), (torch.randn(3, 4),), dynamic_shapes={"X": {0: torch.export.Dim("batch", max=64)}}, strict=True
    )
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    torch.export.save(program, Path(__file__).with_suffix(".pt2"))


if __name__ == "__main__":
    main()
