"""Public architectures of every family, shrunk and with random weights, that captures and exports must hold for."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

# A model with its positional and its keyword arguments.
Built = tuple[nn.Module, tuple, dict]


@dataclass(frozen=True)
class Architecture:
    name: str
    family: str
    build: Callable[[], Built]


ARCHITECTURES: list[Architecture] = []


def architecture(family: str):
    """Registers a builder under the name of its function."""

    def register(build: Callable[[], Built]) -> Callable[[], Built]:
        ARCHITECTURES.append(Architecture(build.__name__, family, build))
        return build

    return register


def tokens(vocabulary: int, *shape: int) -> torch.Tensor:
    return torch.randint(3, vocabulary, shape)


# ---- text


@architecture("text")
def gpt2() -> Built:
    from transformers import GPT2Config, GPT2Model

    config = GPT2Config(vocab_size=100, n_embd=32, n_layer=2, n_head=4, n_positions=32, use_cache=False)
    return GPT2Model(config), (), {"input_ids": tokens(100, 2, 9)}


@architecture("text")
def t5() -> Built:
    from transformers import T5Config, T5Model

    config = T5Config(vocab_size=100, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, use_cache=False)
    return T5Model(config), (), {"input_ids": tokens(100, 2, 9), "decoder_input_ids": tokens(100, 2, 5)}


@architecture("text")
def gemma2() -> Built:
    from transformers import Gemma2Config, Gemma2Model

    config = Gemma2Config(
        vocab_size=100,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        sliding_window=4,
        query_pre_attn_scalar=8,
        max_position_embeddings=32,
        use_cache=False,
    )
    return Gemma2Model(config), (), {"input_ids": tokens(100, 2, 9)}


# ---- vision


@architecture("vision")
def vision_transformer() -> Built:
    from timm.models.vision_transformer import VisionTransformer

    model = VisionTransformer(img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=4, num_classes=10)
    return model, (torch.randn(2, 3, 32, 32),), {}


@architecture("vision")
def swin_transformer() -> Built:
    from timm.models.swin_transformer import SwinTransformer

    model = SwinTransformer(
        img_size=32, patch_size=2, window_size=4, embed_dim=16, depths=(2, 2), num_heads=(2, 4), num_classes=10
    )
    return model, (torch.randn(1, 3, 32, 32),), {}


@architecture("vision")
def clip() -> Built:
    from transformers import CLIPConfig, CLIPModel

    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = CLIPConfig(
        text_config=small | {"vocab_size": 100, "max_position_embeddings": 16, "eos_token_id": 99},
        vision_config=small | {"image_size": 32, "patch_size": 8},
        projection_dim=16,
    )
    kwargs = {"input_ids": tokens(100, 2, 7), "pixel_values": torch.randn(2, 3, 32, 32)}
    return CLIPModel(config), (), kwargs | {"attention_mask": torch.ones(2, 7, dtype=torch.long)}


# ---- audio


@architecture("audio")
def wav2vec2() -> Built:
    from transformers import Wav2Vec2Config, Wav2Vec2Model

    config = Wav2Vec2Config(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        conv_dim=(16, 16, 16),
        conv_kernel=(10, 3, 3),
        conv_stride=(5, 2, 2),
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=4,
    )
    return Wav2Vec2Model(config), (torch.randn(2, 1000),), {}


@architecture("audio")
def whisper_encoder() -> Built:
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    config = WhisperConfig(d_model=32, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=64, num_mel_bins=16)
    config.max_source_positions = 20
    return WhisperEncoder(config), (torch.randn(1, 16, 40),), {}


# ---- recurrent


class AttentiveTranslator(nn.Module):
    """A GRU encoder whose states a GRU cell attends to, step by step."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.encoder = nn.GRU(16, 16, batch_first=True, bidirectional=True)
        self.cell = nn.GRUCell(32, 32)
        self.head = nn.Linear(32, 50)

    def forward(self, source: torch.Tensor) -> torch.Tensor:
        states, _ = self.encoder(self.embedding(source))
        hidden, steps = states.mean(dim=1), []
        for _ in range(3):
            weights = torch.softmax(torch.bmm(states, hidden.unsqueeze(-1)).squeeze(-1), dim=-1)
            hidden = self.cell(torch.einsum("bs,bsh->bh", weights, states), hidden)
            steps.append(self.head(hidden))
        return torch.stack(steps, dim=1)


@architecture("recurrent")
def attentive_translator() -> Built:
    return AttentiveTranslator(), (tokens(50, 2, 6),), {}


@architecture("recurrent")
def sequencer() -> Built:
    from timm.models.sequencer import Sequencer2d

    model = Sequencer2d(
        num_classes=10,
        img_size=32,
        layers=(1, 1),
        patch_sizes=(4, 2),
        embed_dims=(16, 24),
        hidden_sizes=(4, 6),
        mlp_ratios=(2.0, 2.0),
    )
    return model, (torch.randn(1, 3, 32, 32),), {}


# ---- convolutional


@architecture("convolutional")
def mobilenet_v3() -> Built:
    from torchvision.models import mobilenet_v3_small

    return mobilenet_v3_small(width_mult=0.25, num_classes=10), (torch.randn(1, 3, 64, 64),), {}


@architecture("convolutional")
def densenet() -> Built:
    from torchvision.models import DenseNet

    model = DenseNet(growth_rate=4, block_config=(2, 2), num_init_features=8, bn_size=2, num_classes=10)
    return model, (torch.randn(1, 3, 64, 64),), {}


@architecture("convolutional")
def convnext() -> Built:
    from timm.models.convnext import ConvNeXt

    model = ConvNeXt(depths=(1, 1, 1, 1), dims=(8, 12, 16, 24), num_classes=10, use_grn=True)
    return model, (torch.randn(1, 3, 64, 64),), {}


# ---- mixture of experts


@architecture("mixture-of-experts")
def qwen3_moe() -> Built:
    from transformers import Qwen3MoeConfig, Qwen3MoeModel

    config = Qwen3MoeConfig(
        vocab_size=100,
        hidden_size=32,
        intermediate_size=64,
        moe_intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        num_experts=4,
        num_experts_per_tok=2,
        max_position_embeddings=32,
        use_cache=False,
    )
    return Qwen3MoeModel(config), (), {"input_ids": tokens(100, 1, 9)}


class GatedExperts(nn.Module):
    """Every expert runs on every token; the gate weighs the best two."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(16, 4, bias=False)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(16, 24), nn.GELU(), nn.Linear(24, 16)) for _ in range(4))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        best, chosen = self.gate(hidden).topk(2, dim=-1)
        weights = torch.zeros(*hidden.shape[:-1], 4).scatter(-1, chosen, best.softmax(dim=-1))
        mixed = torch.stack([expert(hidden) for expert in self.experts], dim=-1)
        return hidden + (mixed * weights.unsqueeze(-2)).sum(dim=-1)


@architecture("mixture-of-experts")
def gated_experts() -> Built:
    return nn.Sequential(GatedExperts(), nn.LayerNorm(16), GatedExperts()), (torch.randn(2, 5, 16),), {}


# ---- hand-written


class UNet(nn.Module):
    """Down, up, and the skip between."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.InstanceNorm2d(8, affine=True), nn.SiLU())
        self.down = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.out = nn.Conv2d(16, 1, 1)

    def forward(self, image: torch.Tensor) -> dict[str, torch.Tensor]:
        skip = self.stem(image)
        deep = nn.functional.max_pool2d(torch.relu(self.down(skip)), 2)
        deep = nn.functional.interpolate(deep, scale_factor=2, mode="bilinear", align_corners=False)
        logits = self.out(torch.cat([self.up(deep), skip], dim=1))
        return {"logits": logits, "mask": logits.sigmoid() > 0.5}


@architecture("hand-written")
def unet() -> Built:
    return UNet(), (torch.randn(1, 3, 16, 16),), {}


class GraphNetwork(nn.Module):
    """Messages along edges, gathered and added up at the nodes."""

    def __init__(self):
        super().__init__()
        self.message = nn.Linear(16, 8)
        self.update = nn.Linear(16, 8)

    def forward(self, nodes: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        source, target = edges.unbind(0)
        messages = torch.tanh(self.message(torch.cat([nodes[source], nodes[target]], dim=-1)))
        received = torch.zeros_like(nodes).index_add_(0, target, messages)
        return nn.functional.normalize(self.update(torch.cat([nodes, received], dim=-1)), dim=-1)


@architecture("hand-written")
def graph_network() -> Built:
    return GraphNetwork(), (torch.randn(6, 8), torch.randint(0, 6, (2, 10))), {}
