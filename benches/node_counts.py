"""Counts the nodes that modelexport and torch's exporter make of the same archives.

    python benches/node_counts.py ARCHIVE… [--opset N] [--binary PATH] [--results FILE]

Prints one line of JSON for each archive, with the number of nodes by operator where ours has more, and a summary. Torch
runs in a process of its own, so that an archive that it cannot export costs only itself.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import onnx

ROOT = Path(__file__).resolve().parents[1]


def operators(path: Path) -> Counter:
    """How many nodes of each operator the main graph has."""
    return Counter(node.op_type for node in onnx.load(path, load_external_data=False).graph.node)


def count(archive: Path, opset: int, binary: Path, folder: Path, seconds: int) -> dict:
    row = {"archive": str(archive), "opset": opset}
    ours, theirs = folder / "ours.onnx", folder / "torch.onnx"
    command = [binary, "export", archive, "-o", ours, "--opset", str(opset), "--weights", "embed", "-q", "--overwrite"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return row | {"failed": "modelexport", "why": done.stderr.strip()[-300:]}
    row["ours"] = operators(ours).total()
    command = [sys.executable, ROOT / "benches" / "peers.py", "torch_program", archive, theirs, str(opset)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return row | {"failed": "torch", "why": f"takes more than {seconds} s"}
    if done.returncode != 0:
        return row | {"failed": "torch", "why": done.stderr.strip().splitlines()[-1][:300]}
    row["torch"] = operators(theirs).total()
    if row["ours"] > row["torch"]:
        row["more"] = dict((operators(ours) - operators(theirs)).most_common())
        row["fewer"] = dict((operators(theirs) - operators(ours)).most_common())
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--opset", type=int, default=20, help="of both exporters")
    parser.add_argument("--binary", type=Path, default=ROOT / "target" / "release" / "modelexport")
    parser.add_argument("--results", type=Path, help="append the lines to this file, too")
    parser.add_argument("--seconds", type=int, default=300, help="how long torch may take for one archive")
    options = parser.parse_args()
    rows = []
    for archive in options.archives:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(count(archive, options.opset, options.binary, Path(folder), options.seconds))
        print(json.dumps(rows[-1]), flush=True)
        if options.results:
            with options.results.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    both = [row for row in rows if "torch" in row]
    more = sum(row["ours"] > row["torch"] for row in both)
    ratio = sum(row["ours"] / row["torch"] for row in both) / max(len(both), 1)
    print(f"{len(both)} archives that both export: more nodes than torch in {more}, mean ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
