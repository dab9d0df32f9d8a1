import torch

from op_cases import bools, floats, ints, op

PAIRS = [
    (floats(2, 3), floats(2, 3, low=-1)),
    (floats(2, 3), floats(3)),
    (floats(2, 1, 4), floats(3, 1)),
    (floats(2, 3), floats()),
    (floats(), floats()),
    (ints(2, 3), ints(3)),
    (ints(2, 3), floats(3)),
    (ints(2, 3, dtype=torch.int32), ints(3)),
    (ints(4, dtype=torch.uint8), ints(4, dtype=torch.int8)),
    (ints(4, dtype=torch.int16), ints(4, low=1, dtype=torch.int16)),
    (floats(4, dtype=torch.float16), floats(4)),
    (floats(4, dtype=torch.float16), floats(4, dtype=torch.bfloat16)),
    (floats(4, dtype=torch.float16), floats(dtype=torch.float64)),
    (floats(4, dtype=torch.bfloat16), floats(4, low=-1, dtype=torch.bfloat16)),
    (floats(4, dtype=torch.bfloat16), floats()),
    (floats(4, dtype=torch.bfloat16), ints(4, low=250, high=300)),
    (floats(4), floats(4, dtype=torch.float64)),
    (bools(4), floats(4)),
    (bools(4), ints(4)),
    (floats(0, 3), floats(3)),
]
NUMBERS = [2, -3, 0.5, 2.0]

for name in ["add", "sub", "subtract", "rsub", "mul", "multiply"]:
    target = f"aten.{name}.Tensor"
    for a, b in PAIRS:
        if a.dtype == torch.bool and "sub" in name:
            continue
        op(target, a, b, opsets=(14, 20))
    op(
        target,
        floats(2, 3),
        floats(2, 3, low=-1),
        dynamic={0: {0: "n"}, 1: {0: "n"}},
        alternative=[floats(5, 3), floats(5, 3, low=-1)],
    )
    if name != "rsub":
        op(target, floats(2, 3), 2.5)
        op(target, ints(3), 2.5, opsets=(14, 20))
        op(target, floats(4, dtype=torch.bfloat16), 0.1, opsets=(14, 20), rtol=1e-3)
        op(target, floats(4, dtype=torch.float16), 0.1, opsets=(14, 20))
    if name in ("add", "mul", "multiply"):
        op(target, bools(2, 5), bools(5))
        op(target, bools(2, 5), True)
    if "mul" not in name:
        op(target, floats(2, 3), floats(3), alpha=0.5)
        op(target, ints(2, 3), ints(3), alpha=-2)
        op(target, floats(3, dtype=torch.bfloat16), floats(3, low=-1, dtype=torch.bfloat16), alpha=3, opsets=(14, 20))
    scalar = f"aten.{name}.Scalar"
    for number in NUMBERS:
        op(scalar, floats(2, 3), number, opsets=(14, 20))
        op(scalar, ints(2, 3), number, opsets=(14, 20))
    if "mul" not in name:
        op(scalar, floats(2, 3), 2.0, 0.5)
    op(scalar, floats(3, dtype=torch.float16), 3, opsets=(14, 20))
op("aten.add.Tensor", bools(2, 5), bools(5), alpha=False)
op("aten.add.Tensor", bools(2, 5), bools(5), alpha=True)

COMPLEX = torch.complex(floats(3, 4), floats(3, 4, low=-1))
COLUMN = torch.complex(floats(3, 1), floats(3, 1, low=-1))
for name in ("add", "sub", "mul", "rsub"):
    op(f"aten.{name}.Tensor", COMPLEX, COLUMN, opsets=(14, 20))
    op(f"aten.{name}.Tensor", COLUMN, COMPLEX.to(torch.complex128), opsets=(14, 20))
    op(f"aten.{name}.Tensor", COMPLEX, floats(4), opsets=(14, 20))
    op(f"aten.{name}.Tensor", floats(4), COMPLEX, opsets=(14, 20))
    op(f"aten.{name}.Tensor", COMPLEX, floats(), opsets=(14, 20))
    op(f"aten.{name}.Scalar", COMPLEX, 2.5, opsets=(14, 20))
    op(f"aten.{name}.Scalar", COMPLEX, 2 - 1j, opsets=(14, 20))
    op(
        f"aten.{name}.Tensor",
        COMPLEX,
        COLUMN,
        opsets=(20,),
        dynamic={0: {0: "n"}, 1: {0: "n"}},
        alternative=[COMPLEX[:2], COLUMN[:2]],
    )
op("aten.add.Tensor", COMPLEX, COLUMN, alpha=2)
