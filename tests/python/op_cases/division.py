import torch

from op_cases import floats, fn, ints, op

INF, NAN = float("inf"), float("nan")
TENTHS = torch.tensor([1.0, 0.3, -1.0, 0.7, 5.5, -0.3, 0.0])
TOP = ints(3, 4, low=-20, high=20)
BOTTOM = torch.tensor([3, -4, 1, -2])

for name in ("div", "divide", "true_divide"):
    op(f"aten.{name}.Tensor", floats(2, 3), floats(3))
    op(f"aten.{name}.Tensor", TOP, BOTTOM)
    op(f"aten.{name}.Tensor", torch.tensor([1.0, -1.0, 0.0]), torch.tensor([0.0, 0.0, 0.0]))
    op(
        f"aten.{name}.Tensor",
        floats(5, dtype=torch.bfloat16),
        floats(5, dtype=torch.bfloat16, low=1, high=3),
        opsets=(14, 20),
    )
    op(f"aten.{name}.Tensor", floats(5, dtype=torch.float16), 3.0, opsets=(14, 20))
    op(
        f"aten.{name}.Tensor",
        floats(4, 3),
        floats(4, 1),
        dynamic={0: {0: "n"}, 1: {0: "n"}},
        alternative=[floats(2, 3), floats(2, 1)],
    )
    op(f"aten.{name}.Scalar", floats(2, 3), 3)
    op(f"aten.{name}.Scalar", TOP, 2.5)
    op(f"aten.{name}.Scalar", torch.tensor([True, False]), 2)

for name in ("div", "divide"):
    for mode in ("floor", "trunc", None):
        for a, b in [
            (TOP, BOTTOM),
            (TOP.to(torch.int32), BOTTOM.to(torch.int32)),
            (TENTHS, torch.full((7,), 0.1)),
            (TENTHS * 7, -TENTHS - 0.05),
            (floats(4, 7, low=-9, high=9), floats(7, low=1, high=2)),
            (TOP, TENTHS[:1]),
            (ints(5, low=0, high=99, dtype=torch.uint8), torch.full((5,), 7, dtype=torch.uint8)),
            (floats(6, low=-9, high=9, dtype=torch.float16), floats(6, low=1, high=2, dtype=torch.float16)),
            (floats(6, low=-9, high=9, dtype=torch.bfloat16), floats(6, low=1, high=2, dtype=torch.bfloat16)),
            (torch.tensor([1.0, -1.0, 0.0, 3.0]), torch.tensor([0.0, 0.0, 0.0, INF])),
        ]:
            op(f"aten.{name}.Tensor_mode", a, b, rounding_mode=mode, opsets=(14, 20))
        for number in (2, -3, 0.1, 0.25, 7.5):
            op(f"aten.{name}.Scalar_mode", TENTHS * 11, number, rounding_mode=mode, opsets=(14, 20))
            op(f"aten.{name}.Scalar_mode", TOP, number, rounding_mode=mode, opsets=(14, 20))

op("aten.floor_divide.default", TOP, BOTTOM)
op("aten.floor_divide.default", floats(3, 4, low=-9, high=9), torch.tensor([0.3, 2.0, -0.7, 1.0]))
op("aten.floor_divide.default", TOP, 4)
op("aten.floor_divide.default", TOP, 4, dynamic={0: {0: "n"}}, alternative=[ints(5, 4, low=-20, high=20)])
op("aten.floor_divide.Scalar", TOP, 3)
op("aten.floor_divide.Scalar", floats(5, low=-9, high=9), 0.7)
fn("aten.floor_divide.Tensor", lambda a, b: (a + 0).floor_divide_(b), TOP, BOTTOM)

for name in ("remainder", "fmod"):
    op(f"aten.{name}.Tensor", TOP, BOTTOM)
    op(f"aten.{name}.Tensor", TOP.to(torch.int8), BOTTOM.to(torch.int8))
    op(f"aten.{name}.Tensor", floats(3, 4, low=-9, high=9), torch.tensor([0.3, 2.0, -0.7, 1.0]))
    op(
        f"aten.{name}.Tensor",
        torch.tensor([1.0, -3.0, 0.0, INF, NAN, -2.0]),
        torch.tensor([INF, INF, INF, 2.0, 1.0, 0.0]),
    )
    op(
        f"aten.{name}.Tensor",
        floats(6, low=-9, high=9, dtype=torch.float16),
        floats(6, low=1, high=2, dtype=torch.float16),
        opsets=(14, 20),
    )
    op(
        f"aten.{name}.Tensor",
        floats(6, low=-9, high=9, dtype=torch.bfloat16),
        floats(6, low=1, high=2, dtype=torch.bfloat16),
        opsets=(14, 20),
    )
    op(
        f"aten.{name}.Tensor",
        floats(3, 4, low=-9, high=9),
        floats(4, low=1, high=2),
        dynamic={0: {0: "n"}},
        alternative=[floats(5, 4), floats(4, low=1, high=2)],
    )
    for number in (3, -3, 0.7, -0.7):
        op(f"aten.{name}.Scalar", TOP, number, opsets=(14, 20))
        op(f"aten.{name}.Scalar", floats(8, low=-9, high=9), number, opsets=(14, 20))
op("aten.remainder.Scalar_Tensor", 7, BOTTOM)
op("aten.remainder.Scalar_Tensor", 7.5, floats(5, low=1, high=3))

COMPLEX = torch.complex(floats(3, 4), floats(3, 4, low=-1))
COLUMN = torch.complex(floats(3, 1), floats(3, 1, low=-1))
op("aten.div.Tensor", COMPLEX, COLUMN)
op("aten.div.Tensor", COMPLEX, floats(4, low=1, high=2))
op("aten.div.Tensor", floats(4, low=1, high=2), COMPLEX)
op("aten.div.Scalar", COMPLEX, 2)
