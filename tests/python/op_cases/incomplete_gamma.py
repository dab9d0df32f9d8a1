import torch

from op_cases import floats, op

EDGES = torch.tensor([0.0, 1.0, -1.0, float("inf"), float("nan")])
for name in ("igamma", "igammac", "special_gammainc", "special_gammaincc"):
    op(f"aten.{name}.default", floats(5, low=0.1, high=6.0), floats(5, low=0.1, high=6.0))
for name in ("igamma", "igammac"):
    op(
        f"aten.{name}.default",
        torch.tensor([0.05, 1.0, 20.0, 300.0])[:, None],
        torch.tensor([1e-3, 0.5, 18.0, 25.0, 290.0, 320.0]),
    )
    op(f"aten.{name}.default", EDGES[:, None], EDGES)
    op(f"aten.{name}.default", floats(3, 1, low=0.1, dtype=torch.float64), floats(4, low=0.1, dtype=torch.float64))
    op(f"aten.{name}.default", floats(0), floats(0))
    op(
        f"aten.{name}.default",
        floats(5, low=0.1),
        floats(5, low=0.1),
        dynamic={0: {0: "n"}, 1: {0: "n"}},
        alternative=[floats(8, low=0.1), floats(8, low=0.1)],
    )
