import torch
from op_cases import floats, fn, op


def complexes(*shape):
    return torch.complex(floats(*shape), floats(*shape).flip(0) if shape else floats(*shape))


for target in ("aten.view_as_complex.default", "aten.view_as_complex_copy.default"):
    op(target, floats(3, 2))
for target in ("aten.view_as_real.default", "aten.view_as_real_copy.default", "aten.resolve_conj.default",
               "aten.resolve_neg.default", "aten.real.default", "aten.imag.default", "aten.conj.default",
               "aten._conj.default", "aten.conj_physical.default", "aten._conj_physical.default"):
    op(target, complexes(3, 2))
op("aten.real.default", floats(3))
op("aten.conj.default", floats(3))
op("aten.polar.default", floats(3, 2), floats(3, 2))
op("aten.complex.default", floats(3, 2), floats(2))
fn("aten.view_as_complex.default", lambda x: torch.view_as_real(torch.view_as_complex(x)[:1]), floats(3, 2))
