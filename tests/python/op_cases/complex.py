import torch

from op_cases import floats, fn, ints, op


def complexes(*shape):
    return torch.complex(floats(*shape), floats(*shape).flip(0) if shape else floats(*shape))


for target in ("aten.view_as_complex.default", "aten.view_as_complex_copy.default"):
    op(target, floats(3, 2))
for target in (
    "aten.view_as_real.default",
    "aten.view_as_real_copy.default",
    "aten.resolve_conj.default",
    "aten.resolve_neg.default",
    "aten.real.default",
    "aten.imag.default",
    "aten.conj.default",
    "aten._conj.default",
    "aten.conj_physical.default",
    "aten._conj_physical.default",
):
    op(target, complexes(3, 2))
op("aten.real.default", floats(3))
op("aten.conj.default", floats(3))
op("aten.polar.default", floats(3, 2), floats(3, 2))
op("aten.complex.default", floats(3, 2), floats(2))
fn("aten.view_as_complex.default", lambda x: torch.view_as_real(torch.view_as_complex(x)[:1]), floats(3, 2))

op("aten.angle.default", floats(3, 4))
op("aten.angle.default", ints(3, 4))
op("aten.angle.default", torch.tensor([1.0, -2.0, 0.0, float("nan"), float("-inf")]))
fn("aten.angle.default", lambda x: torch.angle(torch.view_as_complex(x)), floats(9, 2))
