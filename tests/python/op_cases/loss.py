import torch

from op_cases import floats, op

for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
    for reduction in (0, 1, 2):
        op(f"aten.{name}.default", floats(3, 4) * 2, floats(4, 3).T.contiguous(), reduction)
    op(f"aten.{name}.default", floats(3, 4, dtype=torch.bfloat16), floats(3, 4, dtype=torch.bfloat16).flip(0))
op("aten.smooth_l1_loss.default", floats(3, 4), floats(4, 3).T.contiguous(), 1, 0.3)
op("aten.smooth_l1_loss.default", floats(3, 4), floats(4, 3).T.contiguous(), 1, 0.0)
op("aten.huber_loss.default", floats(3, 4), floats(4, 3).T.contiguous(), 1, 0.3)
share, target = floats(3, 4, low=0.0), floats(4, 3, low=0.0).T.contiguous()
share[0, 0], target[0, 0] = 0.0, 1.0
for reduction in (0, 1, 2):
    op("aten.binary_cross_entropy.default", share, target, None, reduction)
    op("aten.binary_cross_entropy_with_logits.default", floats(3, 4) * 20, target, None, None, reduction)
    op("aten.kl_div.default", floats(3, 4), target.round(), reduction)
    op("aten.kl_div.default", floats(3, 4), floats(4, 3).T.contiguous(), reduction, log_target=True)
op("aten.binary_cross_entropy.default", share, target, floats(4))
op("aten.binary_cross_entropy_with_logits.default", floats(3, 4), target, floats(4), floats(4).abs())
for reduction in (0, 1, 2):
    op("aten.mse_loss.default", floats(0, 3), floats(0, 3), reduction)
    op("aten.binary_cross_entropy.default", floats(0, 3, low=0), floats(0, 3, low=0), None, reduction)
