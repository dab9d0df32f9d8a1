"""The native part of modelexport. Its functions are wrapped by the package; call those."""

__version__: str

def run_command(arguments: list[str]) -> int:
    """Runs the `modelexport` command; the first argument is its name. Returns the exit status."""
