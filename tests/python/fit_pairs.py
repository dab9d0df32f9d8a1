"""Pairs of graph and evidence, right and wrong ones: makes them, measures what `tag` says of them, and writes the
figures into docs/strategies.md.

    python tests/python/fit_pairs.py make --corpus DIR [MODEL...]
    python tests/python/fit_pairs.py measure --corpus DIR --results DIR/results.jsonl
    python tests/python/fit_pairs.py table DIR/results.jsonl docs/strategies.md

`make` needs onnxsim and onnxslim beside the packages of requirements.txt. It builds the models of fit_models.py, writes
one folder for each (fit_corpus.py), and lists the pairs in DIR/pairs.jsonl (fit_index.py). What exists is kept.
"""

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import support


def make(options):
    import fit_corpus
    import fit_index
    import fit_models

    names = options.models or list(fit_models.MODELS)
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(fit_corpus.make, name, options.corpus / "models" / name, options.cli) for name in names]
        for name, one in zip(names, waiting, strict=True):
            for line in one.result():
                print(line, flush=True)
            print(name, flush=True)
    fit_index.write(options.corpus)


def measure(options):
    import fit_measure

    return fit_measure.measure(options.corpus, options.cli, options.results, options.jobs, options.kind, options.again)


def table(options):
    import fit_measure

    fit_measure.write_table(options.results, options.document)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for name, run in {"make": make, "measure": measure}.items():
        command = commands.add_parser(name)
        command.add_argument("--corpus", type=Path, required=True)
        command.add_argument("--jobs", type=int, default=os.cpu_count())
        command.add_argument("--cli", type=Path, default=None, help="default: this repository's release build")
        command.set_defaults(run=run)
        if run is make:
            command.add_argument("models", nargs="*", help="only these models")
        else:
            command.add_argument("--results", type=Path, required=True, help="one line of JSON for each pair")
            command.add_argument("--kind", action="append", help="only pairs of this kind")
            command.add_argument("--again", action="store_true", help="only what the results tell wrongly")
    command = commands.add_parser("table")
    command.add_argument("results", type=Path)
    command.add_argument("document", type=Path)
    command.set_defaults(run=table)
    options = parser.parse_args()
    if options.run is not table:
        options.cli = (options.cli or support.binary()).resolve()
        options.corpus = options.corpus.resolve()
        options.corpus.mkdir(parents=True, exist_ok=True)
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
