"""Models for pairs of evidence and graph: architectures, and variants of them that differ in one thing.

A variant has the seed of its base, so that all weights up to the difference are equal, as after a fine-tuning.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

import traced_models
import zoo_small
from fit_modules import Blocks, Pixels, Recurrent, Residual, renamed
from zoo_small import Built, tokens


@dataclass(frozen=True)
class Model:
    """`differs` says in what the model differs from its base; None if it is the base itself."""

    name: str
    base: str
    differs: str | None
    build: Callable[[], Built]
    seed: int = 0


MODELS: dict[str, Model] = {}


def add(name: str, build: Callable[[], Built], base: str | None = None, differs: str | None = None, seed: int = 0):
    MODELS[name] = Model(name, base or name, differs, build, seed)


def family(base: str, build: Callable[..., Built], variants: dict[str, tuple[str, dict]]):
    """An architecture, its variants by name (what differs, and the arguments of `build` that make the difference), one
    with renamed classes and one with other weights."""
    add(base, build)
    for name, (differs, options) in variants.items():
        add(f"{base}-{name}", lambda options=options: build(**options), base, differs)
    add(f"{base}-renamed", lambda: renamed(build()), base, "class names")
    add(f"{base}-trained", build, base, "weights", seed=1)


# ---- transformers


def text() -> dict:
    return {"input_ids": tokens(100, 2, 9), "attention_mask": torch.ones(2, 9, dtype=torch.long)}


def bert(head="BertModel", **options) -> Built:
    import transformers

    keywords = {"add_pooling_layer": options.pop("pooler")} if "pooler" in options else {}
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.BertConfig(**small | {"vocab_size": 100, "max_position_embeddings": 32} | options)
    model = getattr(transformers, head)(config, **keywords)
    return model, (), text()


family(
    "bert",
    bert,
    {
        "mlp-72": ("width", {"intermediate_size": 72}),
        "hidden-48": ("width", {"hidden_size": 48}),
        "vocabulary-120": ("width", {"vocab_size": 120}),
        "depth-1": ("depth", {"num_hidden_layers": 1}),
        "depth-3": ("depth", {"num_hidden_layers": 3}),
        "no-pooler": ("head", {"pooler": False}),
        "labels-2": ("head", {"head": "BertForSequenceClassification", "num_labels": 2}),
        "labels-3": ("head", {"head": "BertForSequenceClassification", "num_labels": 3}),
        "tokens": ("head", {"head": "BertForTokenClassification", "num_labels": 2}),
        "masked-lm": ("head", {"head": "BertForMaskedLM"}),
        "relu": ("operators", {"hidden_act": "relu"}),
    },
)


def gpt2(head="GPT2Model", **options) -> Built:
    import transformers

    small = {"vocab_size": 100, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 32, "use_cache": False}
    config = transformers.GPT2Config(**small | {"pad_token_id": 0} | options)
    return getattr(transformers, head)(config), (), text()


family(
    "gpt2",
    gpt2,
    {
        "mlp-72": ("width", {"n_inner": 72}),
        "hidden-48": ("width", {"n_embd": 48}),
        "depth-3": ("depth", {"n_layer": 3}),
        "depth-4": ("depth", {"n_layer": 4}),
        "lm-head": ("head", {"head": "GPT2LMHeadModel"}),
        "labels-2": ("head", {"head": "GPT2ForSequenceClassification", "num_labels": 2}),
        "relu": ("operators", {"activation_function": "relu"}),
    },
)


def t5(head="T5Model", **options) -> Built:
    import transformers

    small = {"vocab_size": 100, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
    config = transformers.T5Config(**small | {"use_cache": False} | options)
    inputs = {"input_ids": tokens(100, 2, 9)}
    if head != "T5EncoderModel":
        inputs["decoder_input_ids"] = tokens(100, 2, 5)
    return getattr(transformers, head)(config), (), inputs


family(
    "t5",
    t5,
    {
        "mlp-72": ("width", {"d_ff": 72}),
        "depth-3": ("depth", {"num_layers": 3}),
        "decoder-3": ("depth", {"num_decoder_layers": 3}),
        "encoder": ("part", {"head": "T5EncoderModel"}),
        "lm-head": ("head", {"head": "T5ForConditionalGeneration"}),
        "gated": ("operators", {"feed_forward_proj": "gated-gelu"}),
    },
)


def llama(head="LlamaModel", **options) -> Built:
    import transformers

    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    small |= {"num_key_value_heads": 2, "vocab_size": 100, "max_position_embeddings": 32, "use_cache": False}
    config = transformers.LlamaConfig(**small | {"pad_token_id": 0} | options)
    return getattr(transformers, head)(config), (), text()


family(
    "llama",
    llama,
    {
        "mlp-72": ("width", {"intermediate_size": 72}),
        "depth-3": ("depth", {"num_hidden_layers": 3}),
        "lm-head": ("head", {"head": "LlamaForCausalLM"}),
        "heads-4": ("width", {"num_key_value_heads": 4}),
        "gelu": ("operators", {"hidden_act": "gelu"}),
    },
)


def encoder_of(name: str, **extra) -> Callable[[], Built]:
    """A text encoder of transformers, shrunk."""

    def build() -> Built:
        import transformers

        small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
        small |= {"vocab_size": 100, "max_position_embeddings": 32, "use_cache": False, "pad_token_id": 0}
        config = getattr(transformers, f"{name}Config")(**small | extra)
        return getattr(transformers, f"{name}Model")(config), (), text()

    return build


add("roberta", encoder_of("Roberta"))
add("electra", encoder_of("Electra", embedding_size=32))
add("albert", encoder_of("Albert", embedding_size=16))
add("distilbert", encoder_of("DistilBert", dim=32, hidden_dim=64, n_layers=2, n_heads=4))
add("opt", encoder_of("OPT", ffn_dim=64, word_embed_proj_dim=32))
add("mistral", encoder_of("Mistral", num_key_value_heads=2))
add("qwen2", encoder_of("Qwen2", num_key_value_heads=2))
add("phi", encoder_of("Phi"))
add("gpt_neox", encoder_of("GPTNeoX"))
add("bloom", encoder_of("Bloom", n_layer=2, n_head=4))


# ---- vision


def vision_transformer(**options) -> Built:
    from timm.models.vision_transformer import VisionTransformer

    small = {"img_size": 32, "patch_size": 8, "embed_dim": 32, "depth": 2, "num_heads": 4, "num_classes": 10}
    return VisionTransformer(**small | options), (torch.randn(2, 3, 32, 32),), {}


family(
    "vision_transformer",
    vision_transformer,
    {
        "mlp-96": ("width", {"mlp_ratio": 3.0}),
        "hidden-48": ("width", {"embed_dim": 48}),
        "patch-16": ("width", {"patch_size": 16}),
        "depth-3": ("depth", {"depth": 3}),
        "depth-4": ("depth", {"depth": 4}),
        "depth-12": ("depth", {"depth": 12}),
        "labels-12": ("head", {"num_classes": 12}),
        "no-head": ("head", {"num_classes": 0}),
        "mean": ("operators", {"global_pool": "avg"}),
        "relu": ("operators", {"act_layer": nn.ReLU}),
        "scaled": ("operators", {"init_values": 0.1}),
    },
)


def resnet(block="BasicBlock", layers=(1, 1, 1, 1), num_classes=10, **options) -> Built:
    from torchvision.models import resnet as library

    model = library.ResNet(getattr(library, block), list(layers), num_classes=num_classes, **options)
    return Pixels.thin(model, 8), (torch.randn(1, 3, 32, 32),), {}


family(
    "resnet",
    resnet,
    {
        "depth-2111": ("depth", {"layers": (2, 1, 1, 1)}),
        "depth-2222": ("depth", {"layers": (2, 2, 2, 2)}),
        "labels-12": ("head", {"num_classes": 12}),
        "bottleneck": ("operators", {"block": "Bottleneck"}),
    },
)


def mobilenet(width=0.25, classes=10) -> Built:
    from torchvision.models import mobilenet_v2

    return mobilenet_v2(width_mult=width, num_classes=classes), (torch.randn(1, 3, 32, 32),), {}


family(
    "mobilenet_v2",
    mobilenet,
    {"width-0.35": ("width", {"width": 0.35}), "labels-12": ("head", {"classes": 12})},
)


def densenet(growth=4, blocks=(2, 2), classes=10) -> Built:
    from torchvision.models import DenseNet

    model = DenseNet(growth_rate=growth, block_config=blocks, num_init_features=8, bn_size=2, num_classes=classes)
    return model, (torch.randn(1, 3, 32, 32),), {}


family(
    "densenet",
    densenet,
    {
        "growth-6": ("width", {"growth": 6}),
        "blocks-2-3": ("depth", {"blocks": (2, 3)}),
        "labels-12": ("head", {"classes": 12}),
    },
)


def convnext(depths=(1, 1, 1, 1), dims=(8, 12, 16, 24), classes=10, **options) -> Built:
    from timm.models.convnext import ConvNeXt

    model = ConvNeXt(depths=depths, dims=dims, num_classes=classes, **options)
    return model, (torch.randn(1, 3, 64, 64),), {}


family(
    "convnext",
    convnext,
    {
        "last-28": ("width", {"dims": (8, 12, 16, 28)}),
        "depth-1121": ("depth", {"depths": (1, 1, 2, 1)}),
        "labels-12": ("head", {"classes": 12}),
        "grn": ("operators", {"use_grn": True}),
    },
)


# ---- hand-written


def blocks(**options) -> Built:
    return Blocks(**options), (torch.randn(2, 7, 16),), {}


family(
    "blocks",
    blocks,
    {
        "mlp-40": ("width", {"inner": 40}),
        "depth-12": ("depth", {"depth": 12}),
        "depth-5": ("depth", {"depth": 5}),
        "post-norm": ("operators", {"norm_first": False}),
        "relu": ("operators", {"activation": nn.ReLU}),
        "labels-5": ("head", {"labels": 5}),
        "no-head": ("head", {"labels": 0}),
        "attributes": ("attribute names", {"attributes": ("self_attention", "feed_forward")}),
    },
)


def recurrent(**options) -> Built:
    return Recurrent(**options), (tokens(50, 2, 6),), {}


family(
    "recurrent",
    recurrent,
    {
        "hidden-24": ("width", {"hidden": 24}),
        "layers-2": ("depth", {"layers": 2}),
        "one-way": ("operators", {"bidirectional": False}),
        "labels-7": ("head", {"labels": 7}),
    },
)


def residual(**options) -> Built:
    return Residual(**options), (torch.randn(2, 16),), {}


family(
    "residual",
    residual,
    {
        "inner-20": ("width", {"inner": 20}),
        "depth-3": ("depth", {"depth": 3}),
        "tanh": ("operators", {"activation": nn.Tanh}),
        "labels-5": ("head", {"labels": 5}),
        "unused": ("unused module", {"unused": True}),
    },
)


add("repeated", lambda: (traced_models.Repeated(), (torch.randn(2, 4),), {}))
add("tied", lambda: (traced_models.Tied(), (tokens(10, 2, 3),), {}))

for entry in zoo_small.ARCHITECTURES:
    if entry.name not in MODELS:
        add(entry.name, entry.build)
        add(f"{entry.name}-renamed", lambda build=entry.build: renamed(build()), entry.name, "class names")
        add(f"{entry.name}-trained", entry.build, entry.name, "weights", seed=1)


def build(name: str) -> Built:
    """The model in evaluation mode with its arguments; the same numbers each time."""
    torch.manual_seed(MODELS[name].seed)
    model, args, kwargs = MODELS[name].build()
    return model.eval(), args, kwargs
