import torch

from op_cases import bools, floats, ints, op

NAN = torch.tensor([[1.0, float("nan"), 2.0], [float("nan")] * 3, [3.0, -1.0, 0.5]])
TYPES = (torch.float64, torch.float16, torch.bfloat16)

for name, whole, dims in (("sum", "default", "dim_IntList"), ("mean", "default", "dim")):
    op(f"aten.{name}.{whole}", floats(2, 3, 4))
    op(f"aten.{name}.{whole}", floats())
    op(f"aten.{name}.{whole}", floats(0, 3))
    op(f"aten.{name}.{whole}", ints(2, 3), dtype=torch.float32)
    op(f"aten.{name}.{whole}", floats(3, 4), dynamic={0: {0: "n"}}, alternative=[floats(5, 4)])
    for dim in ([0], [-1], [0, 2], [-1, 0], [], None):
        op(f"aten.{name}.{dims}", floats(2, 3, 4), dim)
        op(f"aten.{name}.{dims}", floats(2, 3, 4), dim, True)
    op(f"aten.{name}.{dims}", floats(), [0])
    op(f"aten.{name}.{dims}", floats(), [-1], True)
    op(f"aten.{name}.{dims}", floats(0, 3), [0])
    op(f"aten.{name}.{dims}", floats(0, 3), [1])
    op(f"aten.{name}.{dims}", floats(2, 3), [1], dtype=torch.float64)
    op(f"aten.{name}.{dims}", floats(3, 4), [1], True, dynamic={0: {0: "n"}}, alternative=[floats(5, 4)])
    op(f"aten.{name}.{dims}", floats(3, 4), [0], dynamic={0: {0: "n"}}, alternative=[floats(5, 4)])
    for dtype in TYPES:
        op(f"aten.{name}.{dims}", floats(3, 8, dtype=dtype), [1], opsets=(14, 20, 24))
for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
    op("aten.sum.default", ints(3, 4, dtype=dtype), opsets=(14, 20))
    op("aten.sum.dim_IntList", ints(3, 4, dtype=dtype), [1], opsets=(14, 20))
    op("aten.prod.default", ints(2, 3, dtype=dtype), opsets=(14, 20))
    op("aten.prod.dim_int", ints(3, 4, dtype=dtype), 1, opsets=(14, 20))
op("aten.sum.default", bools(3, 4))
op("aten.sum.dim_IntList", bools(3, 4), [0])
op("aten.sum.dim_IntList", ints(3, 4), [0], dtype=torch.int32)
op("aten.prod.default", floats(2, 3))
op("aten.prod.default", floats())
op("aten.prod.default", floats(0))
op("aten.prod.default", bools(3))
for dim in (0, -1):
    op("aten.prod.dim_int", floats(2, 3, 4), dim)
    op("aten.prod.dim_int", floats(2, 3, 4), dim, True)
op("aten.prod.dim_int", floats(2, 3), 0, dtype=torch.float64)
for dtype in TYPES:
    op("aten.prod.dim_int", floats(3, 4, dtype=dtype), 1, opsets=(14, 20))
    op("aten.nansum.default", NAN.to(dtype), [1], opsets=(14, 20))
    op("aten.nanmean.default", NAN.to(dtype), [1], opsets=(14, 20))
for name in ("nansum", "nanmean"):
    op(f"aten.{name}.default", NAN)
    op(f"aten.{name}.default", NAN, [1])
    op(f"aten.{name}.default", NAN, [0], True)
    op(f"aten.{name}.default", NAN, [0, 1])
    op(f"aten.{name}.default", NAN, [0], dynamic={0: {0: "n"}}, alternative=[NAN[:2]])
op("aten.nansum.default", ints(2, 3))
op("aten.count_nonzero.default", ints(2, 3, low=-1, high=2))
op("aten.count_nonzero.default", torch.tensor([0.0, 1.5, float("nan"), -0.0]))
op("aten.count_nonzero.default", ints(2, 3, low=-1, high=2), 1)
op("aten.count_nonzero.default", bools(2, 3), -2)
op("aten.count_nonzero.dim_IntList", ints(2, 3, 4, low=-1, high=2), [0, 2])
op("aten.count_nonzero.dim_IntList", floats(2, 3, dtype=torch.bfloat16), [0], opsets=(14, 20))

COMPLEX = torch.complex(floats(3, 4), floats(3, 4, low=-1))
for name, dims in (("sum", "dim_IntList"), ("mean", "dim")):
    op(f"aten.{name}.default", COMPLEX)
    op(f"aten.{name}.{dims}", COMPLEX, [-1])
    op(f"aten.{name}.{dims}", COMPLEX, [0], True)
