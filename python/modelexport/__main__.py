"""The `modelexport` command; `python -m modelexport` is the same."""

import os
import sys


def main() -> int:
    import signal

    from modelexport import _native

    # The command does not come back to Python before it ends, so Ctrl-C must end it without Python.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Live models are loaded by the Python that the command is installed in, unless the user names another.
    os.environ.setdefault("MODELEXPORT_PYTHON", sys.executable)
    return _native.run_command(["modelexport", *sys.argv[1:]])


def leave_out_the_current_folder() -> None:
    """`python -m` looks for modules in the current folder first, where anything may lie; the command needs none of them.

    Until this has run, only modules that Python has loaded anyway may be imported, here and in the package itself.
    """
    if not sys.flags.safe_path and sys.path[:1] in ([""], [os.getcwd()]):
        del sys.path[0]


if __name__ == "__main__":
    leave_out_the_current_folder()
    sys.exit(main())
