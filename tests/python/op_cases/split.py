import torch

from op_cases import bools, floats, fn, ints, op

for target in ("aten.split.Tensor", "aten.split_copy.Tensor"):
    op(target, floats(6, 3), 2)
    op(target, floats(7, 3), 3)
    op(target, floats(2, 3), 5, -1)
for target in ("aten.split.sizes", "aten.split_with_sizes.default", "aten.split_with_sizes_copy.default"):
    op(target, floats(6, 3), [1, 5])
    op(target, floats(2, 6), [1, 0, 5], -1, dynamic={0: {0: "b"}}, alternative=[floats(3, 6)])
op("aten.chunk.default", floats(6, 4), 3)
op("aten.chunk.default", floats(7, 4), 3)
op("aten.chunk.default", floats(2, 4), 2, -1, dynamic={0: {0: "b"}}, alternative=[floats(3, 4)])
op("aten.chunk.default", torch.complex(floats(2, 4), floats(2, 4)), 2, -1)
op("aten.tensor_split.sections", floats(7, 2), 3)
op("aten.tensor_split.indices", floats(7, 2), [2, 5])
op("aten.tensor_split.tensor_indices_or_sections", floats(7, 2), torch.tensor([2, 5]))
op("aten.tensor_split.tensor_indices_or_sections", floats(3, 7), torch.tensor([1, -2, 9]), -1)
for places in (3, []):
    fn(
        "aten.tensor_split.tensor_indices_or_sections",
        lambda x, places=places: torch.tensor_split(x, torch.tensor(places, dtype=torch.int64)),
        floats(7, 2),
    )
op(
    "aten.tensor_split.tensor_indices_or_sections",
    floats(7, 2),
    torch.tensor([4]),
    dynamic={0: {0: "n"}},
    alternative=[floats(9, 2), torch.tensor([3])],
)
for target in ("aten.unbind.int", "aten.unbind_copy.int"):
    op(target, floats(3, 2))
    op(target, floats(3, 2), -1)
    op(target, floats(1, 2))

op("aten.unsafe_split.Tensor", floats(7, 3), 3)
op("aten.unsafe_split.Tensor", ints(2, 6), 2, dim=-1)
op("aten.unsafe_split_with_sizes.default", floats(6, 3), [1, 5])
op("aten.unsafe_chunk.default", floats(6, 4), 3)
op("aten.unsafe_chunk.default", bools(2, 5), 2, dim=1)
op("aten.hsplit.int", floats(4, 6), 3)
op("aten.hsplit.int", floats(6), 2)
op("aten.hsplit.array", floats(2, 5, 3), [1, 4])
op("aten.hsplit.array", floats(5), [2])
op("aten.vsplit.int", floats(4, 6), 2)
op("aten.vsplit.array", ints(5, 2), [1, 1, 3])
op("aten.dsplit.int", floats(2, 3, 4), 2)
op("aten.dsplit.array", floats(2, 3, 5), [2, 7])
