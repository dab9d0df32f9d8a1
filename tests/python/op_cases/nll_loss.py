import torch

from op_cases import floats, ints, op

target = torch.tensor([1, 0, -100, 3, 2])
for name in ("nll_loss", "nll_loss_nd", "cross_entropy_loss"):
    for reduction in (0, 1, 2):
        op(f"aten.{name}.default", floats(5, 4), target, None, reduction)
        op(f"aten.{name}.default", floats(5, 4), target.clamp(min=0), floats(4).abs(), reduction, 3)
    op(f"aten.{name}.default", floats(4), torch.tensor(2))
op(
    "aten.nll_loss.default",
    floats(5, 4),
    target.clamp(min=0),
    dynamic={0: {0: "b"}, 1: {0: "b"}},
    alternative=[floats(7, 4), ints(7, low=0, high=4)],
)
for name in ("nll_loss_nd", "nll_loss2d", "cross_entropy_loss"):
    op(f"aten.{name}.default", floats(2, 4, 3, 5), ints(2, 3, 5, low=0, high=4), floats(4).abs())
op("aten.nll_loss_forward.default", floats(5, 4), target, None, 1, -100)
op("aten.nll_loss_forward.default", floats(5, 4), target, floats(4).abs(), 2, -100)
for reduction in (0, 1, 2):
    op("aten.cross_entropy_loss.default", floats(5, 4), target, floats(4).abs(), reduction, -100, 0.2)
    op("aten.cross_entropy_loss.default", floats(5, 4), floats(5, 4).softmax(1), None, reduction)
    op("aten.cross_entropy_loss.default", floats(5, 4), floats(5, 4).softmax(1), floats(4).abs(), reduction, -100, 0.2)
op("aten.cross_entropy_loss.default", floats(2, 4, 3), ints(2, 3, low=0, high=4), None, 1, -100, 0.1)
