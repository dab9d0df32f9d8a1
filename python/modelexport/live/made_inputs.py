"""Inputs for a model that nobody described: guesses from its signature, its configuration and its layers, of which the
first is taken that the model accepts."""

import inspect
import itertools
from collections.abc import Iterator
from typing import Any

import torch

from modelexport.capture.state import untouched
from modelexport.kept_contents import kept_contents
from modelexport.live.tensors import accepted_names, floating_dtype, is_whole_number, random_tensor

SEQUENCE = 16
IMAGE_SIDES = (224, 64, 32)
SAMPLES = (16000, 3000, 1024)
# More guesses than this are no better than none.
MOST_GUESSES = 40


def made_inputs(model: torch.nn.Module, batch: int, shapes: list[tuple[int, ...]] | None = None) -> Any:
    """Inputs that the model accepts; with `shapes`, those of the first inputs."""
    guesses = of_shapes(model, shapes) if shapes else all_guesses(model, batch)
    last_error: Exception | None = None
    for inputs in itertools.islice(guesses, MOST_GUESSES):
        try:
            run(model, inputs)
            return inputs
        except Exception as error:  # noqa: BLE001 (whatever a model raises says that the guess was wrong)
            last_error = error
    names = ", ".join(accepted_names(model) or ["anything"])
    reason = f" (the last guess failed with: {str(last_error).partition(chr(10))[0]})" if last_error else ""
    what = "does not run on inputs of these shapes" if shapes else "takes inputs that cannot be guessed"
    raise ValueError(
        f"the model {what}{reason}; it takes {names}; describe them with --inputs 'NAME:[SIZES]:TYPE' or --inputs-from"
    )


def completed(model: torch.nn.Module, inputs: dict[str, torch.Tensor], batch: int) -> dict[str, torch.Tensor]:
    """`inputs`, and what goes with them if the model does not run on them alone."""
    rest = companions(model, getattr(model, "config", None), batch)
    missing = {name: value for name, value in rest.items() if name not in inputs and not name.endswith("mask")}
    if not missing:
        return inputs
    try:
        run(model, inputs)
        return inputs
    except Exception:  # noqa: BLE001 (whatever a model raises says that something is missing)
        return {**inputs, **missing}


def run(model: torch.nn.Module, inputs: Any) -> None:
    args, kwargs = ((), inputs) if isinstance(inputs, dict) else (inputs, {})
    with untouched(model), kept_contents(model, args, kwargs), torch.no_grad():
        model.eval()
        model(*args, **kwargs)


def of_shapes(model: torch.nn.Module, shapes: list[tuple[int, ...]]) -> Iterator[Any]:
    """Inputs of these shapes: first in the types that the signature suggests, then in others."""
    names = main_names(model)[: len(shapes)]
    names += [f"input_{i}" for i in range(len(names), len(shapes))]
    likely = tuple(torch.int64 if is_whole_number(model, name) else floating_dtype(model) for name in names)
    others = itertools.product((floating_dtype(model), torch.int64), repeat=len(shapes))
    for dtypes in itertools.chain([likely], (dtypes for dtypes in others if dtypes != likely)):
        tensors = [
            random_tensor(model, name, shape, dtype) for name, shape, dtype in zip(names, shapes, dtypes, strict=True)
        ]
        if names[0] in (accepted_names(model) or ()):
            yield dict(zip(names, tensors, strict=True))
        else:
            yield tuple(tensors)


def main_names(model: torch.nn.Module) -> list[str]:
    """Arguments in the order in which they matter: the one that the model calls its main one, the required, the rest."""
    names = accepted_names(model) or []
    parameters = inspect.signature(model.forward).parameters
    required = [name for name in names if parameters[name].default is inspect.Parameter.empty]
    main = getattr(model, "main_input_name", None)
    first = [main] if main in names else []
    return list(dict.fromkeys([*first, *required, *names]))


def all_guesses(model: torch.nn.Module, batch: int) -> Iterator[Any]:
    yield from from_configuration(model, batch)
    yield from from_layers(model, batch)


def from_configuration(model: torch.nn.Module, batch: int) -> Iterator[dict[str, torch.Tensor]]:
    """For models that carry a configuration of sizes."""
    names = main_names(model)
    if not names:
        return
    # timm keeps the size of an image beside the model, transformers in its configuration.
    described = getattr(model, "pretrained_cfg", None) or getattr(model, "default_cfg", None)
    if isinstance(described, dict) and described.get("input_size"):
        yield {names[0]: random_tensor(model, names[0], (batch, *described["input_size"]), floating_dtype(model))}
    config = getattr(model, "config", None)
    if config is None:
        return
    main = names[0]
    rest = companions(model, config, batch)
    if is_whole_number(model, main):
        ids = random_tensor(model, main, (batch, sequence_length(config)), torch.int64)
        yield {main: ids, **rest}
        yield {main: ids}
    for shape in feature_shapes(config, batch):
        features = random_tensor(model, main, shape, floating_dtype(model))
        yield {main: features, **{name: value for name, value in rest.items() if not name.endswith("mask")}}
        yield {main: features}


def companions(model: torch.nn.Module, config: Any, batch: int) -> dict[str, torch.Tensor]:
    """What goes with the main input: its mask, the decoder's tokens, the image beside a text."""
    names = accepted_names(model) or []
    length = sequence_length(config)
    found = {}
    if "attention_mask" in names:
        found["attention_mask"] = torch.ones(batch, length, dtype=torch.int64)
    if getattr(config, "is_encoder_decoder", False):
        for name in names:
            if name.startswith("decoder_") and is_whole_number(model, name) and "position" not in name:
                found[name] = random_tensor(model, name, (batch, length), torch.int64)
    vision = getattr(config, "vision_config", None)
    if vision is not None and "pixel_values" in names:
        shape = next(image_shapes(vision, batch), None)
        if shape is not None:
            found["pixel_values"] = random_tensor(model, "pixel_values", shape, floating_dtype(model))
    return found


def sequence_length(config: Any) -> int:
    longest = getattr(config, "max_position_embeddings", None)
    return min(SEQUENCE, longest) if isinstance(longest, int) and longest > 0 else SEQUENCE


def feature_shapes(config: Any, batch: int) -> Iterator[tuple[int, ...]]:
    """Shapes of images, sounds and other features, as the configuration suggests them."""
    yield from image_shapes(config, batch)
    bands = getattr(config, "num_mel_bins", None)
    if isinstance(bands, int):
        positions = getattr(config, "max_source_positions", None)
        frames = 2 * positions if isinstance(positions, int) else 1024
        yield batch, bands, frames
        yield batch, frames, bands
    yield from ((batch, samples) for samples in SAMPLES)
    for key in ("input_size", "hidden_size"):
        if isinstance(size := getattr(config, key, None), int):
            yield batch, SEQUENCE, size


def image_shapes(config: Any, batch: int) -> Iterator[tuple[int, ...]]:
    side = getattr(config, "image_size", None)
    channels = getattr(config, "num_channels", None) or 3
    if isinstance(side, int):
        yield batch, channels, side, side
    elif isinstance(side, (list, tuple)):
        yield batch, channels, *side
    elif hasattr(config, "num_channels"):
        yield from ((batch, channels, side, side) for side in IMAGE_SIDES)


def from_layers(model: torch.nn.Module, batch: int) -> Iterator[Any]:
    """For plain models: what the layers in it take, the first one first."""
    parameters = inspect.signature(model.forward).parameters.values()
    empty = inspect.Parameter.empty
    wanted = sum(parameter.default is empty and parameter.kind <= 1 for parameter in parameters) or 1
    seen = set()
    for module in model.modules():
        for shape, dtype in layer_inputs(module, batch, floating_dtype(model)):
            if (shape, dtype) not in seen:
                seen.add((shape, dtype))
                tensor = random_tensor(model, "", shape, dtype)
                yield tuple(tensor.clone() for _ in range(wanted))


def layer_inputs(
    module: torch.nn.Module, batch: int, dtype: torch.dtype
) -> Iterator[tuple[tuple[int, ...], torch.dtype]]:
    match module:
        case torch.nn.Embedding() | torch.nn.EmbeddingBag():
            yield (batch, SEQUENCE), torch.int64
        case torch.nn.modules.conv._ConvNd():
            rank = len(module.kernel_size)
            for side in SAMPLES if rank == 1 else IMAGE_SIDES if rank == 2 else (32, 16):
                yield (batch, module.in_channels, *(side,) * rank), dtype
        case torch.nn.Linear():
            yield (batch, module.in_features), dtype
            yield (batch, SEQUENCE, module.in_features), dtype
        case torch.nn.RNNBase():
            yield (batch, SEQUENCE, module.input_size), dtype
        case torch.nn.LayerNorm():
            yield (batch, SEQUENCE, *module.normalized_shape), dtype
        case torch.nn.modules.batchnorm._BatchNorm():
            yield (batch, module.num_features, 32, 32), dtype
