"""The native part of modelexport. Its functions are wrapped by the package; call those."""

__version__: str

def run_command(arguments: list[str]) -> int:
    """Runs the `modelexport` command; the first argument is its name. Returns the exit status."""

def content_fingerprint(address: int, length: int, dtype: str) -> str | None:
    """The order-independent fingerprint of a tensor's memory as 16 hexadecimal digits."""

def check_trace(data: bytes, file: str) -> None:
    """Raises `ValueError` unless the bytes are a trace that fits together."""
