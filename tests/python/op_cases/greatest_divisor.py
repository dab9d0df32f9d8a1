import torch

from op_cases import ints, op

for target in ("aten.gcd.default", "aten.lcm.default"):
    op(target, ints(30, low=-60, high=60), torch.arange(-15, 15) * 6)
    op(target, ints(3, 1), ints(4, low=-20, high=20))
    op(target, ints(4, dtype=torch.int32), ints(4, low=1, dtype=torch.int32))
    op(target, ints(0), ints(1))
    op(target, torch.tensor([0, 0, 7, 2**40]), torch.tensor([0, 5, 0, 2**20 * 3]))
    op(target, ints(5), ints(5, low=1), dynamic={0: {0: "n"}, 1: {0: "n"}}, alternative=[ints(8), ints(8, low=1)])
