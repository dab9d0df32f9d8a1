"""Verdicts in the benchmark report follow from the figures beside them."""

import re
import sys

import pytest

import support

sys.path.insert(0, str(support.ROOT / "benches"))

import sections
from verdict import Target, verdict

REPORT = (support.ROOT / "docs" / "benchmarks.md").read_text()


def test_a_missed_target_lists_the_rows_that_miss_it_and_those_that_meet_it():
    cells = {"bert": "1.30 (1.02 to 1.98)", "resnet": "1.39 (1.14 to 1.66)", "whisper": "1.12 (0.92 to 1.43)"}
    text = verdict("export / cp", cells, Target("1.2"))
    assert text == "Target for export / cp, at most 1.2: missed (1.30 at bert, 1.39 at resnet; met at whisper)."


def test_a_target_that_every_row_misses_lists_no_other_rows():
    text = verdict("tagging", {"bert": "9.71 (9.63 to 16.31)"}, Target("30", at_least=True))
    assert text == "Target for tagging, at least 30: missed (9.71 at bert)."


def test_a_met_target_shows_the_row_closest_to_it():
    speedups = verdict("torch / export", {"bert": "63 (61 to 65)", "llama": "12.02"}, Target("10", at_least=True))
    assert speedups == "Target for torch / export, at least 10: met (12.02 at llama is the closest)."
    times = verdict("time", {"short": "9.9 ms", "long": "1.00 s"}, Target("1.2 s"))
    assert times == "Target for time, at most 1.2 s: met (1.00 s at long is the closest)."


def test_a_target_without_figures_is_not_called_met():
    assert verdict("tagging", {}, Target("30", at_least=True)) == "Target for tagging, at least 30: not measured."


@pytest.mark.parametrize(
    "bound, at_least, measured, is_met",
    [
        ("1.2", False, "1.20", True),
        ("1.2", False, "1.21", False),
        ("30", True, "1,007", True),
        ("30", True, "29.99", False),
        ("10 ms", False, "2.4 ms", True),
        ("10 ms", False, "1.02 s", False),
        ("1.39 s", False, "17.5 ms", True),
        ("200 MB", False, "below 11 MB", True),
        ("200 MB", False, "1,910 MB", False),
    ],
)
def test_values_are_compared_with_their_units(bound, at_least, measured, is_met):
    assert Target(bound, at_least).is_met(measured) == is_met


def table(header: str) -> list[dict[str, str]]:
    """The rows of the table of the report whose header contains these cells."""
    lines = REPORT.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("|") and header in line)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[begin:]]
    end = next(i for i, line in enumerate(lines[begin:]) if not line.startswith("|"))
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:end]]


def test_the_verdicts_of_the_report_follow_from_its_tables():
    exports = table("| export / cp |")
    large = [row for row in exports if float(row["archive"].split()[0].replace(",", "")) * 1e6 >= 100e6]
    starts = {row["what"]: row for row in table("| what | archive |")}
    (ten,) = [row for name, row in starts.items() if name.startswith("10 GB")]
    tags = [row for row in table("| against ours |") if row["task"].startswith("tag ") and row["who"] == "onnx"]
    graphs = table("| torch's nodes |")
    expected = [
        verdict(
            "export / cp of archives above 100 MB",
            {row["model"]: row["export / cp"] for row in large},
            sections.EXPORT_AGAINST_CP,
        ),
        verdict(
            "torch / export",
            {row["model"]: row["torch / export"] for row in exports if row["torch / export"]},
            sections.TORCH_AGAINST_EXPORT,
        ),
        verdict("start-up", {"`--version`": starts["start-up (`--version`)"]["time"]}, sections.START),
        verdict("export by reference", {"10 GB, 2,000 nodes": ten["time"]}, Target(ten["target"])),
        verdict(
            "tagging, onnx / ours",
            {row["task"].removeprefix("tag "): row["against ours"] for row in tags},
            sections.ONNX_AGAINST_TAG,
        ),
        verdict("nodes, ours / torch's", {row["model"]: row["ratio"] for row in graphs}, sections.NODES_AGAINST_TORCH),
        verdict(
            "run time, ours / torch's",
            {row["model"]: row["ours / torch's"] for row in graphs},
            sections.RUN_TIME_AGAINST_TORCH,
        ),
    ]
    assert [line for line in REPORT.splitlines() if line.startswith("Target for ")] == expected


def test_notes_hold_no_verdicts_and_date_their_figures():
    notes = (support.ROOT / "benches" / "notes.md").read_text()
    assert not re.search(r"\b(meets|met its|misses|missed|this run)\b", notes)
    for paragraph in notes.split("\n\n"):
        if re.search(r"\d (ms|s)\b|\d%", paragraph.split("verdicts on its targets")[-1]):
            assert re.search(r"On \d{4}-\d\d-\d\d|on \d{4}-\d\d-\d\d", paragraph), paragraph
