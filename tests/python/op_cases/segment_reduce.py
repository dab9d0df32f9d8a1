import torch

from op_cases import floats, op

LENGTHS = torch.tensor([2, 0, 3])
for reduce in ("sum", "mean", "prod", "max", "min"):
    for initial in (None, 1):
        op("aten.segment_reduce.default", floats(5), reduce, lengths=LENGTHS, initial=initial)
        op("aten.segment_reduce.default", floats(5, 2, 3), reduce, offsets=torch.tensor([0, 2, 2, 5]), initial=initial)
op("aten.segment_reduce.default", floats(2, 5, 3), "sum", lengths=torch.tensor([[2, 3], [4, 1]]), axis=1)
op("aten.segment_reduce.default", floats(5, dtype=torch.float16), "mean", lengths=LENGTHS, unsafe=True)
op("aten.segment_reduce.default", floats(5, dtype=torch.float64), "max", lengths=LENGTHS, unsafe=True)
op(
    "aten.segment_reduce.default",
    floats(5, 4),
    "sum",
    lengths=LENGTHS,
    unsafe=True,
    dynamic={0: {1: "n"}},
    alternative=[floats(5, 7), LENGTHS],
)
