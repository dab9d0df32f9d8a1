import torch

from op_cases import floats, ints, op

PLACES = (torch.tensor([0.0, 0.5, 2.0, 2.2]), torch.tensor([0.0, 1.0, 3.0, 3.5, 6.0]))
for order in (1, 2):
    op("aten.gradient.scalarint", floats(4, 5), edge_order=order)
    op("aten.gradient.scalarint", floats(4, 5), spacing=0.5, dim=-1, edge_order=order)
    op("aten.gradient.scalararray", floats(4, 3, 5), spacing=2, dim=[2, 0], edge_order=order)
    op("aten.gradient.array", floats(4, 3, 5), dim=[1, -1], edge_order=order)
    op("aten.gradient.scalarrayint", floats(4, 5), spacing=[0.5, 2.0], edge_order=order)
    op("aten.gradient.scalarrayarray", floats(4, 3, 5), spacing=[0.5, 3.0], dim=[0, 2], edge_order=order)
    op("aten.gradient.tensorarrayint", floats(4, 5), spacing=list(PLACES), edge_order=order)
    op("aten.gradient.tensorarray", floats(4, 3, 5), spacing=list(PLACES), dim=[0, 2], edge_order=order)
op("aten.gradient.scalarint", ints(4, 5))
op("aten.gradient.scalarint", floats(4, 5, dtype=torch.float64), dim=0)
op("aten.gradient.scalarint", floats(2, 5))
op("aten.gradient.scalarint", floats(2, 4, 5, dtype=torch.float16))
