import torch

from op_cases import floats, fn, op

INF, NAN = float("inf"), float("nan")
GOALS = torch.tensor([INF, -INF, 1.0, -1.0, 0.0, NAN])


def steps(digits):
    """How far the neighbour is, in units that show each digit."""
    return lambda x, y: (torch.nextafter(x, y).double() - x.double()) / x.double() * 2.0**digits


op("aten.nextafter.default", floats(40), floats(40))
op("aten.nextafter.default", torch.tensor([1.0, 3.4028235e38, INF, -INF, NAN])[:, None], GOALS)
op("aten.nextafter.default", floats(4), floats(1), dynamic={0: {0: "n"}}, alternative=[floats(7), floats(1)])
fn("aten.nextafter.default", steps(24), torch.tensor([1.0, -1.0, 2.0, 1.9999999, 0.1])[:, None], GOALS)
fn("aten.nextafter.default", steps(53), torch.tensor([1.0, -1.0, 2.0, 0.1]).double()[:, None], GOALS.double())
fn("aten.nextafter.default", steps(11), floats(40, dtype=torch.float16), floats(40, dtype=torch.float16))
fn("aten.nextafter.default", steps(8), floats(40, dtype=torch.bfloat16), floats(40, dtype=torch.bfloat16))
fn(
    "aten.nextafter.default",
    lambda x, y: torch.nextafter(x, y).double() * 2.0**149,
    torch.tensor([0.0, -0.0, 1e-45, -1e-45, 1.1754944e-38])[:, None],
    GOALS,
    rtol=1e-9,
)
