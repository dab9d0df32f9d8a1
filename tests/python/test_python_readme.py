"""What the README shows in Python runs as it stands there."""

import re

import onnx

import support


def test_the_quick_start_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (support.ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 2
    names: dict = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    said = capsys.readouterr().out
    assert "LayerNorm" in said
    assert "belongs to /Sequential/Linear.0" in said
    onnx.checker.check_model(tmp_path / "model.onnx", full_check=True)
    support.modelexport("export", tmp_path / "model.pt2", "-o", tmp_path / "again.onnx")
