"""What may have fixed a size that shall be dynamic, beside torch's own words."""

from collections.abc import Iterator
from contextlib import contextmanager

_OF_ONE = (
    "modelexport: torch takes a size of 0 or 1 for a constant: capture with an example that has at least two elements "
    "along each dynamic dimension."
)
_AS_A_NUMBER = (
    "modelexport: the model takes the size of a dynamic dimension as a plain number: in a Python loop over it, in `int()` "
    "or `range()`, or in an operator that wants one certain size. Leave the dimension out of the dynamic ones, or put "
    "tensor operations in place of the loop (nn.LSTM, nn.GRU and nn.RNN take any length). TORCH_LOGS=+dynamic shows the "
    "line."
)
# By what torch says; the first that fits.
_NOTES = {
    "0/1 specialized": _OF_ONE,
    "to be a constant (0)": _OF_ONE,
    "to be a constant (1)": _OF_ONE,
    "specialized it to be a constant": _AS_A_NUMBER,
    "was inferred to be a constant": _AS_A_NUMBER,
    "inferred a static shape of": _AS_A_NUMBER,
}


@contextmanager
def fixed_sizes_explained() -> Iterator[None]:
    """Adds a note to torch's errors about sizes that cannot be dynamic."""
    try:
        yield
    except Exception as error:
        text = str(error)
        note = next((note for words, note in _NOTES.items() if words in text), None)
        if note is not None:
            error.add_note(note)
        raise
