import torch

from op_cases import floats, fn, ints, op

IDS = ints(40, low=0, high=8)
op("aten.histc.default", IDS.float(), 8, 0, 7)
op("aten.histc.default", IDS.float(), 8, 0, 7, dynamic={0: {0: "n"}}, alternative=[ints(23, low=0, high=8).float()])
op("aten.histc.default", floats(5, 7), 6, -1, 1)
op("aten.histc.default", floats(50), 10)
op("aten.histc.default", floats(50), 10, -2.5, 0.5)
op("aten.histc.default", torch.full((4,), 3.0), 5)
op("aten.histc.default", floats(50, dtype=torch.float64), 10, -1, 1)
op("aten.histc.default", torch.tensor([-1.0, -0.99, 0.0, 1.0, 1.0001]), 4, -1, 1)
op("aten.histc.default", torch.arange(256).float(), 256, 0, 255)
op("aten.histc.default", torch.arange(60).float(), 60, 0, 59)
fn("aten.bincount.default", lambda x: torch.bincount(x), IDS)
fn("aten.bincount.default", lambda x: torch.bincount(x, minlength=12), IDS)
fn("aten.bincount.default", lambda x: torch.bincount(x, minlength=3), IDS.to(torch.int32))
fn("aten.bincount.default", lambda x, w: torch.bincount(x, w), IDS, floats(40))
fn("aten.bincount.default", lambda x, w: torch.bincount(x, w, 10), IDS, floats(40, dtype=torch.float64))
