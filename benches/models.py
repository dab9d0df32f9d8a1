"""The models that are measured: their captures and their inputs. Weights are random; nothing is downloaded."""

import sys
from pathlib import Path

import torch


def build(name: str, quick: bool) -> tuple[torch.nn.Module, tuple, dict]:
    """A model, positional inputs and keyword inputs."""
    torch.manual_seed(0)
    if name == "bert_base":
        from transformers import BertConfig, BertModel

        config = BertConfig(num_hidden_layers=2) if quick else BertConfig()
        return BertModel(config).eval(), (), {"input_ids": torch.ones(1, 128, dtype=torch.long)}
    if name == "resnet50":
        from torchvision.models import resnet50

        return resnet50().eval(), (torch.zeros(1, 3, 224, 224),), {}
    if name == "vit_b":
        from transformers import ViTConfig, ViTModel

        config = ViTConfig(num_hidden_layers=2) if quick else ViTConfig()
        return ViTModel(config).eval(), (torch.zeros(1, 3, 224, 224),), {}
    from transformers import LlamaConfig, LlamaForCausalLM

    size = {"num_hidden_layers": 2, "vocab_size": 4096} if quick else {"num_hidden_layers": 16, "vocab_size": 32000}
    config = LlamaConfig(hidden_size=2048, intermediate_size=8192, num_attention_heads=32, num_key_value_heads=8, **size)
    config.use_cache = False
    return LlamaForCausalLM(config).eval(), (), {"input_ids": torch.ones(1, 32, dtype=torch.long)}


NAMES = ["bert_base", "resnet50", "vit_b", "llama_1b"]


def capture(name: str, quick: bool, target: Path) -> None:
    model, args, kwargs = build(name, quick)
    with torch.no_grad():
        torch.export.save(torch.export.export(model, args, kwargs, strict=False), target)


if __name__ == "__main__":
    capture(sys.argv[1], sys.argv[2] == "quick", Path(sys.argv[3]))
