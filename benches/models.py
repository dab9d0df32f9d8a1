"""The models that are measured: their captures and their inputs. Weights are random; nothing is downloaded."""

import sys
from pathlib import Path

import torch

NAMES = ["bert_base", "resnet50", "vit_b", "whisper_base", "llama_1b"]

# Layers of the transformers, by size: `full` is what the name says.
LAYERS = {
    "bert_base": {"full": 12, "quick": 2},
    "vit_b": {"full": 12, "quick": 2},
    "whisper_base": {"full": 6, "quick": 1},
    "llama_1b": {"full": 16, "quick": 1},
}


def build(name: str, size: str) -> tuple[torch.nn.Module, tuple, dict]:
    """A model, positional inputs and keyword inputs. `layers_N` is a small Llama of N layers, to see growth."""
    torch.manual_seed(0)
    if name == "bert_base":
        from transformers import BertConfig, BertModel

        config = BertConfig(num_hidden_layers=LAYERS[name][size], vocab_size=30522 if size == "full" else 2000)
        return BertModel(config).eval(), (), {"input_ids": torch.ones(1, 128, dtype=torch.long)}
    if name == "resnet50":
        from torchvision.models import resnet50

        return resnet50().eval(), (torch.zeros(1, 3, 224, 224),), {}
    if name == "vit_b":
        from transformers import ViTConfig, ViTModel

        config = ViTConfig(num_hidden_layers=LAYERS[name][size])
        return ViTModel(config).eval(), (torch.zeros(1, 3, 224, 224),), {}
    if name == "whisper_base":
        from transformers import WhisperConfig, WhisperModel

        layers = {"encoder_layers": LAYERS[name][size], "decoder_layers": LAYERS[name][size]}
        heads = {"encoder_attention_heads": 8, "decoder_attention_heads": 8}
        widths = {"d_model": 512, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048}
        model = WhisperModel(WhisperConfig(use_cache=False, **layers, **heads, **widths)).eval()
        sound, text = torch.zeros(1, 80, 3000), torch.ones(1, 32, dtype=torch.long)
        return model, (), {"input_features": sound, "decoder_input_ids": text}
    if name == "llama_1b":
        sizes = {"hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32, "num_key_value_heads": 8}
        return llama(layers=LAYERS[name][size], vocab_size=32000 if size == "full" else 4096, **sizes)
    layers = int(name.removeprefix("layers_"))
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2}
    return llama(layers=layers, vocab_size=256, **sizes)


def llama(layers: int, **sizes: int) -> tuple[torch.nn.Module, tuple, dict]:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(num_hidden_layers=layers, use_cache=False, **sizes)
    return LlamaForCausalLM(config).eval(), (), {"input_ids": torch.ones(1, 32, dtype=torch.long)}


def by_position(model: torch.nn.Module, args: tuple, kwargs: dict) -> tuple[torch.nn.Module, tuple]:
    """The same call as a tracer takes it: tensors in and tensors out, all by position."""

    class ByPosition(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *tensors):
            positional, named = tensors[: len(args)], tensors[len(args) :]
            outputs = self.model(*positional, **dict(zip(kwargs, named, strict=True)))
            return outputs if isinstance(outputs, torch.Tensor) else tuple(outputs.values())

    return ByPosition().eval(), (*args, *kwargs.values())


def capture(name: str, size: str, target: Path) -> None:
    model, args, kwargs = build(name, size)
    with torch.no_grad():
        torch.export.save(torch.export.export(model, args, kwargs, strict=False), target)


if __name__ == "__main__":
    # Several at once: importing takes longer than a small capture. A file appears complete or not at all.
    size, folder = sys.argv[1], Path(sys.argv[2])
    for name in sys.argv[3:]:
        # Under its own name, which torch writes into the archive and expects there.
        unfinished = folder / "unfinished" / f"{name}.pt2"
        unfinished.parent.mkdir(exist_ok=True)
        capture(name, size, unfinished)
        unfinished.rename(folder / f"{name}.pt2")
