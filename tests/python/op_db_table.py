#!/usr/bin/env python3
"""Writes docs/op-db.md and docs/op-db-measured.json from the results of `op_db.py score` and `op_db.py peer`.

op_db_table.py OURS.jsonl PEER.jsonl
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import op_db

DOCS = Path(__file__).parents[2] / "docs"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def read(path: str) -> dict[str, dict]:
    return {row["name"]: row for row in map(json.loads, Path(path).read_text().splitlines())}


def verdicts(rows: dict[str, dict]) -> dict[str, str]:
    """Of the entries that can be judged."""
    found = {name: op_db.verdict(row) for name, row in rows.items()}
    return {name: verdict for name, verdict in found.items() if verdict != "-"}


def reason(row: dict) -> str:
    """The first sentence of what was said about the first sample that is not right."""
    if "died" in row:
        return row["died"]
    said = next(iter(row["why"].values()), "")
    line = next((line for line in said.splitlines() if line.startswith("  ")), said.splitlines()[0] if said else "")
    # The path of the archive says nothing to a reader.
    return line.split("model.pt2: ")[-1].strip().replace("|", "\\|")[:160]


def table(ours: dict[str, dict], peer: dict[str, dict]) -> str:
    judged, theirs = verdicts(ours), verdicts(peer)
    entries, samples = (
        Counter(judged.values()),
        Counter(v for row in ours.values() for v in row.get("samples", {}).values()),
    )
    lines = [
        "| | " + " | ".join(op_db.VERDICTS) + " | all |",
        "|---|" + "---|" * (len(op_db.VERDICTS) + 1),
        "| entries | " + " | ".join(f"{entries[v]:,}" for v in op_db.VERDICTS) + f" | {len(judged):,} |",
        "| samples | " + " | ".join(f"{samples[v]:,}" for v in op_db.VERDICTS) + f" | {sum(samples.values()):,} |",
        "",
        f"{len(ours) - len(judged)} entries are not scored: PyTorch has no samples of these types on this machine, or cannot capture them.",
        "",
        "Entries with at least one sample that is not right:",
        "",
        "| entry | samples | first reason | torch.onnx, worst of the first samples |",
        "|---|---|---|---|",
    ]
    for name, verdict in judged.items():
        if verdict == "right":
            continue
        counts = Counter(ours[name].get("samples", {}).values())
        told = ", ".join(f"{counts[v]} {v}" for v in op_db.VERDICTS if counts[v]) or verdict
        lines.append(f"| `{name}` | {told} | {reason(ours[name])} | {theirs.get(name, '')} |")
    return "\n".join(lines)


def main(ours: str, peer: str) -> None:
    rows, others = read(ours), read(peer)
    page = DOCS / "op-db.md"
    text = page.read_text()
    before, behind = text.split(BEGIN)[0], text.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n{table(rows, others)}\n{END}{behind}")
    (DOCS / "op-db-measured.json").write_text(json.dumps(verdicts(rows), indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
