"""Strategies over files: which of them takes which evidence, and how the native part is asked to tag."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from modelexport import _native

NATIVE = "native"


@dataclass(frozen=True)
class TagChoices:
    """What shows in tags, and where they are written; None is the command line's own default."""

    modules: str | None = None
    torch_nn_exceptions: tuple[str, ...] | None = None
    rules: Path | None = None
    embed: str | None = None
    tag_format: str | None = None

    @classmethod
    def of(
        cls,
        modules: str | None,
        torch_nn_exceptions: Iterable[str] | None,
        rules: str | PathLike[str] | None,
        embed: str | Iterable[str] | None,
        tag_format: str | None,
    ) -> "TagChoices":
        return cls(
            modules,
            None if torch_nn_exceptions is None else tuple(torch_nn_exceptions),
            None if rules is None else Path(rules),
            embed if embed is None or isinstance(embed, str) else ",".join(embed) or "none",
            tag_format,
        )

    def arguments(self) -> list[str]:
        """As arguments of the command line."""
        exceptions = None if self.torch_nn_exceptions is None else ",".join(self.torch_nn_exceptions)
        options = {
            "--modules": self.modules,
            "--torch-nn-exceptions": exceptions,
            "--rules": self.rules,
            "--embed": self.embed,
            "--tag-format": self.tag_format,
        }
        return [f"{name}={value}" for name, value in options.items() if value is not None]


def tag(
    source: Path,
    target: Path,
    evidence: Path,
    strategy: str | None,
    choices: TagChoices,
    overwrite: bool,
    force: bool = False,
) -> dict[str, Any]:
    """Writes `target`, the tagged `source`, and its sidecar; returns what `modelexport tag --format json` prints."""
    arguments = ["modelexport", "tag", str(source), f"--output={target}", f"--evidence={evidence}", "--format=json"]
    arguments += [f"--strategy={strategy}"] * (strategy is not None) + choices.arguments()
    _, output, _ = _native.run_tool(arguments + ["--overwrite"] * overwrite + ["--force"] * force)
    return json.loads(output)
