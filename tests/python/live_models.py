"""Small models as users have them: folders of Hugging Face with random weights, and modules with a factory."""

import json
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hello", "world", "a", "b"]

CONFIGURATION = """
from transformers import PretrainedConfig

class TinyConfig(PretrainedConfig):
    model_type = "tiny_of_its_own"

    def __init__(self, width=8, **kwargs):
        self.width = width
        super().__init__(**kwargs)
"""

MODELING = """
import torch
from transformers import PreTrainedModel
from .configuration_tiny import TinyConfig

class TinyModel(PreTrainedModel):
    config_class = TinyConfig

    def __init__(self, config):
        super().__init__(config)
        self.linear = torch.nn.Linear(config.width, config.width)
        self.post_init()

    def forward(self, x: torch.FloatTensor):
        return self.linear(x)
"""

FACTORY = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x, scale=None):
        out = self.linear(x)
        return out if scale is None else out * scale

def make():
    return Net()

def make_with_inputs():
    return Net(), {"x": torch.randn(3, 4), "scale": torch.ones(4)}

def make_nothing():
    return "no model"

number = 3
"""

LIBRARY = """
import torch

library = torch.library.Library("zoo", "DEF")
library.define("composite(Tensor x) -> Tensor")
library.impl("composite", lambda x: torch.nn.functional.gelu(x).sin(), "CompositeImplicitAutograd")
library.define("opaque(Tensor x) -> Tensor")
library.impl("opaque", torch.empty_like, "Meta")
library.impl("opaque", torch.clone, "CPU")

class Calls(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, x):
        return getattr(torch.ops.zoo, self.name)(x)

def composite():
    return Calls("composite")

def opaque():
    return Calls("opaque")
"""


def encoder(folder: Path, with_tokenizer: bool = True) -> Path:
    """A text encoder, with or without a tokenizer of a few words."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.BertConfig(vocab_size=len(WORDS), max_position_embeddings=32, **sizes)
    transformers.BertModel(config).eval().save_pretrained(folder)
    if with_tokenizer:
        (folder / "vocab.txt").write_text("\n".join(WORDS))
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))
    return folder


def encoder_decoder() -> torch.nn.Module:
    torch.manual_seed(0)
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2}
    return transformers.T5Model(transformers.T5Config(vocab_size=len(WORDS), **sizes)).eval()


def speech() -> torch.nn.Module:
    torch.manual_seed(0)
    layers = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    sizes = {"d_model": 16, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "num_mel_bins": 8, "max_source_positions": 16}
    tokens = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    config = transformers.WhisperConfig(vocab_size=20, max_target_positions=20, **layers, **sizes, **tokens)
    return transformers.WhisperModel(config).eval()


def text_and_image() -> torch.nn.Module:
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    text = dict(vocab_size=20, max_position_embeddings=16, pad_token_id=0, bos_token_id=1, eos_token_id=2, **sizes)
    vision = dict(image_size=16, patch_size=8, **sizes)
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)
    return transformers.CLIPModel(config).eval()


def own_code(folder: Path) -> Path:
    """A folder whose model is code that lies in it."""
    folder.mkdir()
    (folder / "configuration_tiny.py").write_text(CONFIGURATION)
    (folder / "modeling_tiny.py").write_text(MODELING)
    classes = {"AutoConfig": "configuration_tiny.TinyConfig", "AutoModel": "modeling_tiny.TinyModel"}
    described = {"architectures": ["TinyModel"], "auto_map": classes, "model_type": "tiny_of_its_own", "width": 8}
    (folder / "config.json").write_text(json.dumps(described))
    tensors = {"linear.weight": torch.randn(8, 8), "linear.bias": torch.randn(8)}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder
