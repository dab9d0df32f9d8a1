"""Many exports: from many threads, and one after the other for a long time."""

import gc
import resource
from concurrent.futures import ThreadPoolExecutor

import torch

import modelexport
import python_models

THREADS, EACH = 8, 20
EXPORTS, WARM_UP = 300, 100
# Growth per export that is noise: allocators keep pages, torch keeps small caches.
ALLOWED_BYTES = 40_000


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def hooks(model: torch.nn.Module) -> int:
    return sum(
        len(table)
        for module in model.modules()
        for name, table in vars(module).items()
        if name.endswith("_hooks") and isinstance(table, dict)
    )


def test_many_threads_export_at_once_and_all_succeed(tmp_path):
    models = [python_models.Block().eval() for _ in range(THREADS)]
    x = torch.randn(2, 8)

    def work(thread: int) -> list[bytes]:
        paths = [tmp_path / f"{thread}_{i}.onnx" for i in range(EACH)]
        return [modelexport.export(models[thread], x, path).path.read_bytes() for path in paths]

    with ThreadPoolExecutor(THREADS) as pool:
        files = list(pool.map(work, range(THREADS)))
    assert sum(len(each) for each in files) == THREADS * EACH
    assert all(len(set(each)) == 1 for each in files), "one model gives one file"
    assert len({each[0] for each in files}) == THREADS, "each model gives its own"


def test_exports_for_a_long_time_do_not_grow_and_leave_no_hook(tmp_path):
    model, x = python_models.Block().eval(), torch.randn(2, 8)
    sizes = []
    for i in range(EXPORTS):
        modelexport.export(model, x, tmp_path / "m.onnx")
        if i + 1 in (WARM_UP, EXPORTS):
            gc.collect()
            sizes.append(resident_bytes())
    growth = (sizes[1] - sizes[0]) / (EXPORTS - WARM_UP)
    assert growth < ALLOWED_BYTES, f"{growth:.0f} bytes per export"
    assert hooks(model) == 0
