"""Measures modelexport and comparable tools and writes docs/benchmarks.md. Run by ./bench."""

import argparse
import os
import shutil
import time
from pathlib import Path

from report import Report, machine
from sections import ROOT, SECTIONS, Bench

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
MODELS = ["bert_base", "resnet50", "vit_b", "whisper_base", "llama_1b"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--quick", action="store_true", help="small models and few repetitions: two minutes")
    sizes.add_argument(
        "--smoke", action="store_true", help="without torch and other peers: seconds, to see that it runs"
    )
    parser.add_argument("--models", default=",".join(MODELS), help=f"which models, with commas [{','.join(MODELS)}]")
    parser.add_argument("--sections", help=f"what to measure, with commas [{','.join(SECTIONS)}]")
    parser.add_argument("-o", "--output", type=Path, help="where the report goes [docs/benchmarks.md]")
    options = parser.parse_args()
    sections = options.sections.split(",") if options.sections else list(SECTIONS)
    names = options.models.split(",")
    for given, known in [(sections, SECTIONS), (names, MODELS)]:
        if unknown := [name for name in given if name not in known]:
            parser.error(f"{unknown[0]!r} is not one of {', '.join(known)}")
    is_quick = options.quick or options.smoke
    # A quick run only checks that everything works, so it does not replace the published report.
    target = options.output or (TARGET / "bench" / "quick.md" if is_quick else ROOT / "docs" / "benchmarks.md")
    work = TARGET / "bench"
    work.mkdir(parents=True, exist_ok=True)
    report = Report(target.resolve())
    bench = Bench(
        report=report,
        binary=Path(os.environ.get("MODELEXPORT_BIN", TARGET / "release" / "modelexport")),
        work=work,
        size="quick" if is_quick else "full",
        names=names[:2] if is_quick else names,
        with_peers=not options.smoke,
    )
    began = time.monotonic()
    report.text(
        "# Benchmarks",
        f"Written by `./bench` on {machine()}",
        "Every verdict on a target is computed from the table above it.",
    )
    if options.smoke:
        sections = [name for name in sections if name in ("start", "growth")]
    for name in sections:
        SECTIONS[name](bench)
    notes = ROOT / "benches" / "notes.md"
    if notes.exists() and not is_quick:
        report.text(notes.read_text().rstrip())
    shutil.rmtree(bench.out, ignore_errors=True)
    report.write()
    print(f"wrote {report.target} in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
