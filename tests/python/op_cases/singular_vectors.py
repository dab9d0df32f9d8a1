import torch

from op_cases import floats, fn

#: onnxruntime draws no random numbers beyond.
RANDOM = (14, 18, 20)

# Where nothing reads the vectors, the values are right; vectors of something random are random, so that what they make
# up together is compared.
fn("aten.linalg_svd.default", lambda x: torch.linalg.svd(x)[1], floats(4, 3))
fn("aten.linalg_svd.default", lambda x: torch.linalg.svd(x, full_matrices=False)[1], floats(2, 3, 5))
fn("aten.svd.default", lambda x: torch.svd(x)[1], floats(4, 3))
fn("aten.svd.default", lambda x: torch.svd(x, compute_uv=False), floats(4, 3))
fn("aten.linalg_eigh.default", lambda x: torch.linalg.eigh(x)[0], floats(4, 4))
fn("aten.linalg_eigh.default", lambda x: torch.linalg.eigh(x, "U")[0], floats(2, 3, 3))


def product(x, svd):
    """Of the factors of a random matrix, less that matrix: nothing remains."""
    x = x + torch.randn_like(x)
    u, s, v = svd(x)
    return torch.round((u * s[..., None, :]) @ v - x, decimals=3).abs(), torch.round(u.mT @ u, decimals=3).abs()


for shape in ((4, 4), (5, 3), (3, 5), (2, 3, 4)):
    fn(
        "aten.linalg_svd.default",
        lambda x: product(x, lambda x: torch.linalg.svd(x, full_matrices=False)),
        floats(*shape),
        opsets=RANDOM,
    )
    fn(
        "aten.svd.default",
        lambda x: product(x, lambda x: [*torch.svd(x)[:2], torch.svd(x)[2].mT]),
        floats(*shape),
        opsets=RANDOM,
    )


def eigenproduct(x):
    x = x + torch.randn_like(x)
    x = x + x.mT
    values, vectors = torch.linalg.eigh(x)
    return torch.round((vectors * values[..., None, :]) @ vectors.mT - x, decimals=3).abs()


fn("aten.linalg_eigh.default", eigenproduct, floats(4, 4), opsets=RANDOM)
fn("aten.linalg_eigh.default", eigenproduct, floats(2, 3, 3), opsets=RANDOM)
fn(
    "aten.linalg_svd.default",
    lambda x: torch.linalg.svd(x)[1],
    floats(2, 3, 3),
    dynamic={0: {0: "b"}},
    alternative=[floats(4, 3, 3)],
)
fn("aten._linalg_svd.default", lambda x: torch.ops.aten._linalg_svd.default(x)[1], floats(2, 4, 3))
fn("aten._linalg_svd.default", lambda x: torch.ops.aten._linalg_svd.default(x, False, False), floats(2, 4, 3))
fn("aten._linalg_svd.default", lambda x: torch.ops.aten._linalg_svd.default(x, False, False), floats(2, 0, 3))
fn("aten._linalg_svd.default", lambda x: torch.ops.aten._linalg_svd.default(x), floats(0, 3))
fn("aten._linalg_eigh.default", lambda x: torch.ops.aten._linalg_eigh.default(x)[0], floats(2, 3, 3))
fn("aten._linalg_eigh.default", lambda x: torch.ops.aten._linalg_eigh.default(x, "U", False), floats(2, 3, 3))
