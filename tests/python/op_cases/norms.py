import torch

from op_cases import floats, op

INF = float("inf")
for order in (2, 1, 0, 3, 0.5, INF, -INF, -1):
    op("aten.linalg_vector_norm.default", floats(2, 3, 4), order)
    op("aten.linalg_vector_norm.default", floats(2, 3, 4), order, [1])
    op("aten.linalg_vector_norm.default", floats(2, 3, 4), order, [0, -1], True)
    op("aten.norm.Scalar", floats(2, 3), order)
    op("aten.norm.ScalarOpt_dim", floats(2, 3), order, [1])
    op("aten.norm.ScalarOpt_dim", floats(2, 3), order, [0], True)
    op("aten.norm.ScalarOpt_dtype", floats(2, 3), order, dtype=torch.float64)
    op("aten.norm.ScalarOpt_dim_dtype", floats(2, 3), order, [1], False, dtype=torch.float64)
    op("aten.linalg_norm.default", floats(5), order)
    op("aten.linalg_norm.default", floats(2, 3), order, [1])
op("aten.norm.ScalarOpt_dim", floats(2, 3), None, [1])
op(
    "aten.linalg_vector_norm.default",
    floats(2, 3),
    dim=[-1],
    keepdim=True,
    dynamic={0: {0: "n"}},
    alternative=[floats(5, 3)],
)
op("aten.linalg_vector_norm.default", floats(2, 3), dim=[-1], dtype=torch.float64)
op("aten.linalg_vector_norm.default", floats())
op("aten.linalg_vector_norm.default", floats(0, 3), 2, [0])
for dtype in (torch.float64, torch.float16, torch.bfloat16):
    op("aten.linalg_vector_norm.default", floats(3, 8, dtype=dtype), 2, [1], opsets=(14, 20))
    op("aten.linalg_vector_norm.default", floats(3, 8, dtype=dtype), 3, [1], opsets=(14, 20))
for order in (1, -1, INF, -INF):
    op("aten.linalg_matrix_norm.default", floats(2, 3, 4), order)
    op("aten.linalg_matrix_norm.default", floats(2, 3, 4), order, [0, 2], True)
    op("aten.linalg_norm.default", floats(3, 4), order)
    op("aten.linalg_norm.default", floats(2, 3, 4), order, [1, 2])
op("aten.linalg_matrix_norm.str_ord", floats(2, 3, 4))
op("aten.linalg_norm.ord_str", floats(3, 4), "fro")
op("aten.linalg_norm.ord_str", floats(2, 3, 4), "fro", [0, 1], True)
op("aten.linalg_norm.default", floats(2, 3, 4))
op("aten.frobenius_norm.dim", floats(2, 3, 4), [0, 1])
op("aten.frobenius_norm.dim", floats(2, 3, 4), [1], True)
for order in (2, 1, INF, 0, 2.5):
    op("aten.dist.default", floats(2, 3), floats(3), order)
for order in (2, -2):
    op("aten.linalg_matrix_norm.default", floats(2, 3, 4), order)
    op("aten.linalg_matrix_norm.default", floats(2, 3, 4), order, [0, 2], True)
    op("aten.linalg_norm.default", floats(4, 3), order)
    op("aten.linalg_norm.default", floats(2, 3, 4), order, [2, 1])
op("aten.linalg_matrix_norm.str_ord", floats(2, 3, 4), "nuc")
op("aten.linalg_matrix_norm.str_ord", floats(2, 3, 4), "nuc", [2, 0], True)
op("aten.linalg_matrix_norm.str_ord", floats(2, 0, 4), "nuc")
op("aten.linalg_norm.ord_str", floats(3, 4), "nuc")
op("aten.linalg_matrix_norm.str_ord", floats(3, 4, dtype=torch.float64), "nuc", opsets=(14, 20))
op("aten.linalg_matrix_norm.default", floats(2, 3, 4), 2, dynamic={0: {1: "n"}}, alternative=[floats(2, 6, 4)])
op("aten.nuclear_norm.default", floats(3, 4))
op("aten.nuclear_norm.default", floats(3, 4), True)
op("aten.nuclear_norm.dim", floats(2, 3, 4), [0, 1])
op("aten.nuclear_norm.dim", floats(2, 3, 4), [1, 2], True)
op("aten.linalg_norm.default", floats(0, 0, dtype=torch.float16), INF)
op("aten.linalg_norm.default", floats(0, 3), 1)
op("aten.linalg_matrix_norm.default", floats(2, 0, 3), 1)
