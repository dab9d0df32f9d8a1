import torch

from op_cases import op

op("aten.linspace.default", 0, 1, 5)
op("aten.linspace.default", -3.5, 10, 7)
op("aten.linspace.default", 2, 2, 1)
op("aten.linspace.default", 0, 1, 0)
op("aten.linspace.default", 0, 10, 4, dtype=torch.int64)
op("aten.linspace.default", 1e-4, 0.02, 1000)
for dtype in (torch.float64, torch.float16, torch.bfloat16):
    op("aten.linspace.default", -1, 1, 9, dtype=dtype, opsets=(14, 20))
    op("aten.logspace.default", -1, 1, 9, dtype=dtype, opsets=(14, 20))
op("aten.logspace.default", 0, 3, 5)
op("aten.logspace.default", 0, 3, 5, 2.0)
a, b = torch.tensor(-1.0), torch.tensor(4.0)
for name in ("linspace", "logspace"):
    op(f"aten.{name}.Tensor_Tensor", a, b, 6)
    op(f"aten.{name}.Tensor_Scalar", a, 3, 6)
    op(f"aten.{name}.Scalar_Tensor", 0, b, 6)
op("aten.linspace.Tensor_Tensor", a, b, 6, dtype=torch.float64)
for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
    op("aten.linspace.default", 0.7, 10.3, 7, dtype=dtype, opsets=(14, 20))
    op("aten.linspace.default", 9.7, 1.3, 6, dtype=dtype, opsets=(14, 20))
    op("aten.logspace.default", 0, 2, 5, dtype=dtype, opsets=(14, 20))
    op("aten.logspace.default", 0.5, 4.7, 6, 2.0, dtype=dtype, opsets=(14, 20))
    op("aten.linspace.Tensor_Tensor", torch.tensor(0.7), torch.tensor(10.3), 7, dtype=dtype, opsets=(14, 20))
    op("aten.logspace.Tensor_Tensor", torch.tensor(0.5), torch.tensor(4.7), 6, 2.0, dtype=dtype, opsets=(14, 20))
op("aten.linspace.default", -5.5, 5.5, 7, dtype=torch.int64)
op("aten.linspace.Scalar_Tensor", 1, torch.tensor(10), 1, dtype=torch.int64)
op("aten.linspace.Tensor_Scalar", torch.tensor(-9), 90, 34, dtype=torch.int64)
op("aten.logspace.default", -3, 3, 7, 2.0, dtype=torch.int64)
