"""Results that torch cannot look into: caches, and dataclasses that nobody registered."""

from dataclasses import dataclass

import onnxruntime
import pytest
import torch

import live_models
import modelexport
import python_models
import support


@dataclass
class Unregistered:
    scores: torch.Tensor
    parts: dict
    label: str


class Labelled(python_models.Block):
    def forward(self, x):
        hidden = super().forward(x)
        return Unregistered(hidden.softmax(-1), {"all": [hidden, hidden * 2]}, "a text"), x + 1


def run(path, inputs: dict[str, torch.Tensor]) -> dict:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    return dict(zip(names, session.run(None, {name: value.numpy() for name, value in inputs.items()}), strict=True))


def test_a_dataclass_that_nobody_registered_is_its_tensors(tmp_path):
    torch.manual_seed(0)
    model, x = Labelled().eval(), torch.randn(2, 8)
    result = modelexport.export(model, x, tmp_path / "m.onnx")
    assert isinstance(model(x)[0], Unregistered), "the model itself returns what it did"
    with torch.no_grad():
        labelled, more = model(x)
    wanted = [labelled.scores, *labelled.parts["all"], more]
    got = list(run(result.path, {"x": x}).values())
    support.assert_all_close(got, [tensor.numpy() for tensor in wanted], ["float32"] * 4)


@pytest.mark.parametrize("build", [live_models.encoder_decoder, live_models.speech])
def test_caches_are_outputs_named_after_what_leads_to_them(build, tmp_path):
    model = build()
    tokens = torch.randint(0, 9, (1, 5))
    inputs = {model.main_input_name: tokens, "decoder_input_ids": torch.randint(0, 9, (1, 4))}
    if model.main_input_name != "input_ids":
        inputs[model.main_input_name] = torch.randn(1, 8, 32)
    result = modelexport.export(model, inputs, tmp_path / "m.onnx")
    with torch.no_grad():
        wanted = model(**inputs)
    layer = wanted.past_key_values.self_attention_cache.layers[0]
    got = run(result.path, inputs)
    names = [
        "last_hidden_state",
        *(f"past_key_values_self_attention_cache_layers_0_{part}" for part in ("keys", "values")),
    ]
    assert set(names) <= set(got)
    wanted = [wanted.last_hidden_state, layer.keys, layer.values]
    support.assert_all_close([got[name] for name in names], [tensor.numpy() for tensor in wanted], ["float32"] * 3)
