"""The `modelexport` command; `python -m modelexport` is the same."""

import os
import signal
import sys

from modelexport import _native


def main() -> int:
    # The command does not come back to Python before it ends, so Ctrl-C must end it without Python.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Live models are loaded by the Python that the command is installed in, unless the user names another.
    os.environ.setdefault("MODELEXPORT_PYTHON", sys.executable)
    return _native.run_command(["modelexport", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
