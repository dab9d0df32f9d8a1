"""Tags every pair of a corpus, and tells which are refused and with what fit."""

import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

REFUSED = 1
# Thousands of small files are written and thrown away: in memory where the system has a place for it.
SCRATCH = "/dev/shm" if Path("/dev/shm").is_dir() else None
BEGIN, END = "<!-- fit: begin -->", "<!-- fit: end -->"


def measure(corpus: Path, cli: Path, results: Path, jobs: int, kinds: list[str] | None) -> int:
    """Writes a line for each pair and prints the figures. Returns 1 if a pair was not told as it should be."""
    pairs = [json.loads(line) for line in (corpus / "pairs.jsonl").read_text().splitlines()]
    pairs = [pair for pair in pairs if not kinds or pair["kind"] in kinds]
    with ThreadPoolExecutor(jobs) as pool:
        rows = list(pool.map(lambda pair: pair | told(cli, pair), pairs))
    results.write_text("".join(json.dumps(row) + "\n" for row in rows))
    print("\n".join(table(rows)))
    wrongly = {
        "right pairs that were refused": [row for row in rows if row["right"] and row["exit"] == REFUSED],
        "wrong pairs that passed": [row for row in rows if is_silent(row)],
        "pairs that gave an error": [row for row in rows if row["exit"] not in (0, REFUSED)],
    }
    for what, found in wrongly.items():
        print(f"\n{len(found)} {what}")
        for row in found:
            print(f"  {row['kind']}: {row['id']}: {score(row)} {row['said']}")
    return int(any(wrongly.values()))


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


def is_silent(row) -> bool:
    """Whether evidence of another model was taken, although the graph tells the difference."""
    return not row["right"] and not row.get("same_graph") and row["exit"] == 0


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
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    before, rest = document.read_text().split(BEGIN)
    _, after = rest.split(END)
    document.write_text("\n".join([f"{before}{BEGIN}", *table(rows), f"{END}{after}"]))
