"""`python -m modelexport.live`: reads what to do as a line of JSON from stdin, and tells what it does as such lines on stdout.

Each line is an object with one key: `step`, `summary`, `unsupported` or `error`. The end of stdin, like a signal, means that
the answer is no longer wanted.
"""

import json
import os
import signal
import sys
import threading
import traceback
import warnings
from typing import Any

# Exit statuses of the command line.
FINDING, BAD_INPUT, IO_FAILED = 1, 2, 3


def main() -> int:
    # What models and libraries print must not mix with the lines for the command line.
    lines = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def tell(key: str, value: Any) -> None:
        print(json.dumps({key: value}, ensure_ascii=True), file=lines, flush=True)

    end_on_signals()
    request = json.loads(sys.stdin.readline())
    end_with_stdin()
    if not request["verbose"]:
        be_quiet()
    import modelexport
    from modelexport.errors import UnsupportedOperators

    try:
        if request["version"] != modelexport.__version__:
            raise ValueError(
                f"{sys.executable} has modelexport {modelexport.__version__}, but this command has version "
                f"{request['version']}: pip install --upgrade modelexport=={request['version']}"
            )
        from modelexport.live import job

        tell("summary", job.run(request, lambda step: tell("step", step)))
        return 0
    except UnsupportedOperators as error:
        operators = [vars(operator) for operator in error.operators]
        tell("unsupported", {"message": str(error), "opset": error.opset, "operators": operators})
        return FINDING
    except KeyboardInterrupt:
        return IO_FAILED
    except Exception as error:  # noqa: BLE001 (a model may raise anything)
        if request["verbose"]:
            traceback.print_exc()
        status = IO_FAILED if isinstance(error, OSError) and not isinstance(error, FileExistsError) else BAD_INPUT
        tell("error", {"message": message(error), "status": status})
        return status


def end_on_signals() -> None:
    """The first signal ends the work as Ctrl-C does, so that files that are not complete are removed; others during that time
    are ignored. Signals that are ignored already stay so."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    heard = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]

    def end(number: int, frame: Any) -> None:
        for other in heard:
            signal.signal(other, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in heard:
        signal.signal(number, end)


def end_with_stdin() -> None:
    """The command line closes stdin when it is told to stop, and the system does if the command line dies."""
    stdin = os.dup(sys.stdin.fileno())
    # Models that ask for something get no answer.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)

    def wait() -> None:
        while os.read(stdin, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def message(error: Exception) -> str:
    """What went wrong; errors that are not for users come with their type."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    text = "\n".join([str(error), *getattr(error, "__notes__", ())]).strip()
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"


def be_quiet() -> None:
    """Warnings of libraries and their progress bars are shown with -v only."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("TQDM_DISABLE", "1")


if __name__ == "__main__":
    sys.exit(main())
