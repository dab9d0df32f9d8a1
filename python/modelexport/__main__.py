"""The `modelexport` command; `python -m modelexport` is the same."""

import signal
import sys

from modelexport import _native


def main() -> int:
    # The command does not come back to Python before it ends, so Ctrl-C must end it without Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run_command(["modelexport", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
