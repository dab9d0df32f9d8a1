"""Tags every pair of a corpus, and tells which are refused and with what fit."""

import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

REFUSED = 1
FAULTS = ("right pairs that were refused", "wrong pairs that passed", "pairs that gave an error")
# Thousands of small files are written and thrown away: in memory where the system has a place for it.
SCRATCH = "/dev/shm" if Path("/dev/shm").is_dir() else None
BEGIN, END = "<!-- fit: begin -->", "<!-- fit: end -->"


def measure(corpus: Path, cli: Path, results: Path, jobs: int, kinds: list[str] | None, again: bool) -> int:
    """Writes a line for each pair and prints the figures. Returns 1 if a pair was not told as it should be.

    With `again`, only pairs that were wrongly told are measured anew.
    """
    pairs = read(corpus / "pairs.jsonl")
    known = {row["id"]: row for row in read(results)} if again else {}
    chosen = [pair for pair in pairs if not kinds or pair["kind"] in kinds]
    waiting = [pair for pair in chosen if pair["id"] not in known or fault(known[pair["id"]])]
    with ThreadPoolExecutor(jobs) as pool:
        measured = pool.map(lambda pair: told(cli, pair), waiting)
        known |= {pair["id"]: row for pair, row in zip(waiting, measured, strict=True)}
    rows = [pair | known[pair["id"]] for pair in chosen]
    results.write_text("".join(json.dumps(row) + "\n" for row in rows))
    print("\n".join(table(rows)))
    for what in FAULTS:
        found = [row for row in rows if fault(row) == what]
        print(f"\n{len(found)} {what}")
        for row in found:
            print(f"  {row['kind']}: {row['id']}: {score(row)} {row['said']}")
    return int(any(map(fault, rows)))


def read(lines: Path) -> list[dict]:
    return [json.loads(line) for line in lines.read_text().splitlines()]


def fault(row) -> str | None:
    """What is wrong with what was told of a pair."""
    if row["exit"] not in (0, REFUSED):
        return "pairs that gave an error"
    if row["right"]:
        return "right pairs that were refused" if row["exit"] == REFUSED else None
    # Nothing tells two models apart that give the same graph.
    return "wrong pairs that passed" if row["exit"] == 0 and not row.get("same_graph") else None


def told(cli: Path, pair: dict) -> dict:
    """Exit code, fit and message for one pair."""
    options = [f"--{pair['mode']}", pair["evidence"]] if pair["evidence"] else []
    options += ["--strategy", pair["strategy"]] if pair["strategy"] else []
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        target = Path(folder) / "tagged.onnx"
        command = [cli, "tag", pair["graph"], "-o", target, "--format", "json", *options]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
        was_written = target.exists()
    try:
        report = json.loads(ended.stdout)
    except ValueError:
        report = {}
    said = " ".join(line for line in ended.stderr.splitlines() if "error" in line)
    return {"exit": ended.returncode, "written": was_written, "fit": report.get("fit"), "said": said[:400]}


def score(row):
    return (row["fit"] or {}).get("score")


def table(rows) -> list[str]:
    """By kind: pairs, refused, range of score, as lines of a Markdown table."""
    groups = {}
    for row in rows:
        which = "right" if row["right"] else "same graph" if row.get("same_graph") else "wrong"
        groups.setdefault((which, row["kind"]), []).append(row)
    lines = ["| evidence | kind | pairs | refused | lowest score | highest score |", "|---|---|---|---|---|---|"]
    for which in ("right", "wrong", "same graph"):
        chosen = {kind: found for (of, kind), found in sorted(groups.items()) if of == which}
        if len(chosen) > 1:
            chosen["all"] = [row for found in chosen.values() for row in found]
        lines += [f"| {which} | {kind} | {' | '.join(figures(found))} |" for kind, found in chosen.items()]
    return lines


def figures(found):
    scores = [value for row in found if (value := score(row)) is not None]
    ends = [f"{end(scores):.3f}" if scores else "" for end in (min, max)]
    return [f"{len(found):,}", f"{sum(row['exit'] == REFUSED for row in found):,}", *ends]


def write_table(results: Path, document: Path):
    """Puts the table between the marks of a document."""
    rows = read(results)
    before, rest = document.read_text().split(BEGIN)
    _, after = rest.split(END)
    document.write_text("\n".join([f"{before}{BEGIN}", *table(rows), f"{END}{after}"]))
