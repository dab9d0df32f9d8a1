import torch

from op_cases import floats, ints, op

for target in ("aten.transpose.int", "aten.swapaxes.default", "aten.swapdims.default", "aten.transpose_copy.int"):
    op(target, floats(2, 3, 4), 0, -1)
    op(target, floats(2, 3, 4, 5), 1, 2, dynamic={0: {0: "b", 2: "s"}}, alternative=[floats(3, 3, 6, 5)])
op("aten.transpose.int", ints(3), 0, 0)
op("aten.transpose.int", torch.complex(floats(2, 3), floats(2, 3)), 0, 1)
for target in ("aten.permute.default", "aten.permute_copy.default"):
    op(target, floats(2, 3, 4), [2, 0, 1])
    op(target, floats(2, 3, 4), [-1, -3, -2])
    op(target, ints(2, 0, 4), [1, 2, 0])
for target in ("aten.t.default", "aten.t_copy.default", "aten.numpy_T.default"):
    op(target, floats(2, 3))
    op(target, floats(3))
op("aten.numpy_T.default", floats(2, 3, 4))
op("aten.mT.default", floats(2, 3, 4))
op("aten.mT.default", torch.complex(floats(2, 3), floats(2, 3)))
op("aten.mH.default", floats(3, 4))
op("aten.matrix_H.default", floats(3, 4))
op("aten.adjoint.default", floats(2, 3, 4))
op("aten.movedim.intlist", floats(2, 3, 4, 5), [0, -1], [1, 0])
op("aten.movedim.int", floats(2, 3, 4), 0, -1)
for target in ("aten.unsqueeze.default", "aten.unsqueeze_copy.default"):
    op(target, floats(2, 3), 1)
    op(target, floats(2, 3), -1)
    op(target, floats(), 0)
    op(target, torch.complex(floats(2, 3), floats(2, 3)), -1)
for target in ("aten.squeeze.default", "aten.squeeze_copy.default"):
    op(target, floats(1, 3, 1))
    op(target, floats(2, 3))
    op(target, floats(1, 1))
for target in ("aten.squeeze.dim", "aten.squeeze_copy.dim"):
    op(target, floats(1, 3, 1), -1)
    op(target, floats(2, 3), 0)
    op(target, floats(), 0)
    op(target, torch.complex(floats(2, 1), floats(2, 1)), -1)
for target in ("aten.squeeze.dims", "aten.squeeze_copy.dims"):
    op(target, floats(1, 3, 1), [0, -1])
    op(target, floats(1, 3, 1), [1])
