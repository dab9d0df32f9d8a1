"""Exports a Llama of 70 billion parameters on a machine that cannot hold a fifth of it in memory.

    .venv/bin/python benches/larger_than_memory.py [FOLDER]

Makes a Hugging Face folder: the configuration, and sparse shards with the right names, shapes, types and sizes (132 GB that take
no disk space). Captures the model on the meta device and saves the program, once, which takes a minute or two. Then measures an
export by reference on the command line.
"""

import json
import sys
import time
from pathlib import Path

import measure
import synthetic
from sections import ROOT
from verdict import Target, median, verdict

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "dtype": "bfloat16",
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "vocab_size": 32000,
    "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-05,
    "tie_word_embeddings": False,
    "use_cache": False,
}
SHARD_BYTES = 10 << 30
TYPES = {"torch.bfloat16": "BF16", "torch.float32": "F32"}
BYTES_OF = {"BF16": 2, "F32": 4}
SEQUENCE = 16

TIME, MEMORY = Target("2 s"), Target("200 MB")


def write_checkpoint(folder: Path, shapes: dict[str, tuple[str, list[int]]]) -> int:
    """Shards and their index. Returns the bytes of all."""
    shards: list[dict[str, tuple[str, list[int]]]] = [{}]
    total = in_shard = 0
    for name, (dtype, shape) in shapes.items():
        length = BYTES_OF[dtype]
        for size in shape:
            length *= size
        if in_shard and in_shard + length > SHARD_BYTES:
            shards.append({})
            in_shard = 0
        shards[-1][name] = (dtype, shape)
        total, in_shard = total + length, in_shard + length
    weight_map = {}
    for i, tensors in enumerate(shards):
        file = f"model-{i + 1:05}-of-{len(shards):05}.safetensors"
        synthetic.write_safetensors(folder / file, tensors, BYTES_OF)
        weight_map |= dict.fromkeys(tensors, file)
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return total


def capture(folder: Path, target: Path) -> None:
    """The program of the model on the meta device, and the shards for it."""
    import torch

    import modelexport

    model = modelexport.meta_model(folder)
    shapes = {name: (TYPES[str(tensor.dtype)], list(tensor.shape)) for name, tensor in model.state_dict().items()}
    print(f"{sum(parameter.numel() for parameter in model.parameters()) / 1e9:.1f} billion parameters", flush=True)
    print(f"shards of {write_checkpoint(folder, shapes) / 1e9:.0f} GB", flush=True)
    began = time.perf_counter()
    tokens = torch.empty(1, SEQUENCE, dtype=torch.long, device="meta")
    with torch.no_grad():
        torch.export.save(torch.export.export(model, (tokens,), strict=False), target)
    print(f"captured in {time.perf_counter() - began:.0f} s: {target.stat().st_size / 1e6:.1f} MB", flush=True)


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target" / "bench" / "llama_70b"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "meta_model.pt2"
    if not program.exists():
        (folder / "config.json").write_text(json.dumps(CONFIG, indent=2))
        capture(folder, program)
    binary = ROOT / "target" / "release" / "modelexport"
    series, target = measure.Series(), folder / "model.onnx"
    for _ in range(3):
        command = [binary, "export", program, "-o", target, "--weights-from", folder, "-q", "--overwrite"]
        measure.run(command, series)
    print(f"export: {series.text()}, processor {measure.seconds(series.median_cpu)}, peak {series.memory_text()}")
    print(
        f"{target.name}: {target.stat().st_size / 1e6:.1f} MB, pointing into {len(list(folder.glob('*.safetensors')))} shards"
    )
    print(verdict("time", {target.name: series.text()}, TIME))
    print(verdict("memory", {target.name: series.memory_text()}, MEMORY))
    return 0 if TIME.is_met(median(series.text())) and MEMORY.is_met(series.memory_text()) else 1


if __name__ == "__main__":
    sys.exit(main())
