import torch

from op_cases import floats, ints, op


def einsum(equation, *tensors, **settings):
    op("aten.einsum.default", equation, list(tensors), **settings)


einsum("ij,jk->ik", floats(2, 3), floats(3, 4))
einsum(" i j , j K -> K i ", floats(2, 3), floats(3, 4))
einsum("bij,bjk", floats(2, 3, 4), floats(2, 4, 5))
einsum(
    "bshd,bthd->bhst",
    floats(2, 3, 4, 5),
    floats(2, 6, 4, 5),
    dynamic={0: {0: "b", 1: "s"}, 1: {0: "b", 1: "t"}},
    alternative=[floats(3, 4, 4, 5), floats(3, 2, 4, 5)],
)
einsum("bhwc,hkc->bhwk", floats(2, 3, 4, 5), floats(3, 6, 5))
einsum("bhwc,wkc->bhwk", floats(2, 3, 4, 5), floats(4, 6, 5))
einsum(
    "nchw,nqhw->ncq",
    floats(2, 3, 4, 5),
    floats(2, 6, 4, 5),
    dynamic={0: {2: "h", 3: "w"}, 1: {2: "h", 3: "w"}},
    alternative=[floats(2, 3, 6, 7), floats(2, 6, 6, 7)],
)
einsum(
    "bsd,dhk->bshk",
    floats(2, 3, 4),
    floats(4, 5, 6),
    dynamic={0: {1: "s"}},
    alternative=[floats(2, 7, 4), floats(4, 5, 6)],
)
einsum("bshk,hkd->bsd", floats(2, 3, 4, 5), floats(4, 5, 6))
einsum("...i,ji->...j", floats(2, 3, 4), floats(5, 4))
einsum("...i,...i", floats(2, 3, 4), floats(2, 3, 4))
einsum("i...,i->...", floats(2, 3, 4), floats(2))
einsum("i,j->ij", floats(2), floats(3))
einsum("i,j->ji", floats(2), floats(3))
einsum("bi,bi->bi", floats(2, 3), floats(2, 3))
einsum("bi,bj->bij", floats(2, 3), floats(2, 4))
einsum("ij,ij->", floats(2, 3), floats(2, 3))
einsum("i,i->", floats(3), floats(3))
einsum("ij->ji", floats(2, 3))
einsum("ijk->k", floats(2, 3, 4))
einsum("ij->", floats(2, 3))
einsum("ii->i", floats(3, 3))
einsum("bii->b", floats(2, 3, 3))
einsum("bnhd,bmhd->bnmh", floats(2, 3, 4, 5), floats(2, 6, 4, 5))
einsum("bij,bik->bj", floats(2, 3, 4), floats(2, 3, 5))
einsum("ij,jk,kl->il", floats(2, 3), floats(3, 4), floats(4, 5))
einsum("a,b,c->abc", floats(2), floats(3), floats(4))
einsum("bi,oij,bj->bo", floats(2, 3), floats(4, 3, 5), floats(2, 5))
einsum("bi,bj->bj", floats(2, 1), floats(2, 3))
einsum("ij,kj->ik", floats(2, 1), floats(3, 4))
einsum("bhd,bhde->bhe", floats(2, 3, 4), floats(2, 3, 4, 5))
einsum("nkctv,kvw->nctw", floats(2, 3, 4, 5, 6), floats(3, 6, 6))
einsum("ij,jk->ik", ints(2, 3), ints(3, 4))
einsum("ij,jk->ik", floats(2, 3, dtype=torch.bfloat16), floats(3, 4, dtype=torch.bfloat16))
einsum("bij,bjk->bik", floats(2, 3, 4, dtype=torch.float16), floats(2, 4, 5, dtype=torch.float16))
op("aten.tensordot.default", floats(2, 3, 4), floats(4, 3, 5), [1, 2], [1, 0])
op("aten.tensordot.default", floats(2, 3), floats(4, 5), [], [])
op("aten.tensordot.default", floats(2, 3, 4), floats(2, 3, 4), [0, 1, 2], [0, 1, 2])
op("aten.tensordot.default", floats(3, 2, dtype=torch.float64), floats(2, 4, dtype=torch.float64), [-1], [0])
op("aten.inner.default", floats(2, 3), floats(4, 3))
op("aten.inner.default", floats(3), floats(3))
op("aten.inner.default", floats(), floats(2, 3))
op("aten.inner.default", floats(2, 5, 3), floats(3))
op("aten.bilinear.default", floats(2, 3), floats(2, 5), floats(4, 3, 5), floats(4))
op(
    "aten.bilinear.default",
    floats(2, 6, 3),
    floats(2, 6, 5),
    floats(4, 3, 5),
    dynamic={0: {0: "b"}, 1: {0: "b"}},
    alternative=[floats(4, 6, 3), floats(4, 6, 5), floats(4, 3, 5)],
)
op("aten.einsum.default", "bij,bjk->bik", [floats(9, 64, 0), floats(9, 0, 32)])
op("aten.einsum.default", "ij,ij->i", [floats(2, 0), floats(2, 0)])
op("aten.tensordot.default", floats(2, 0), floats(0, 4), [1], [0])
