"""Verdicts on targets, computed from the cells of the table that they judge."""

from dataclasses import dataclass

UNITS = {"": 1.0, "ms": 1e-3, "s": 1.0, "MB": 1.0}


@dataclass(frozen=True)
class Target:
    """A bound for a measurement, as a reader writes it: `1.2`, `10 ms`."""

    bound: str
    at_least: bool = False
    """Whether larger values are better."""

    def is_met(self, measured: str) -> bool:
        if self.at_least:
            return magnitude(measured) >= magnitude(self.bound)
        return magnitude(measured) <= magnitude(self.bound)

    def __str__(self) -> str:
        return f"at {'least' if self.at_least else 'most'} {self.bound}"


def verdict(name: str, measured: dict[str, str], target: Target) -> str:
    """One sentence: met, or missed with every row that misses.

    `measured`: cells by the name of their row. A cell is judged as it is printed, so that the verdict always agrees with
    the table."""
    medians = {row: median(cell) for row, cell in measured.items()}
    begin = f"Target for {name}, {target}:"
    if not medians:
        return f"{begin} not measured."
    missed = [f"{value} at {row}" for row, value in medians.items() if not target.is_met(value)]
    met = [row for row, value in medians.items() if target.is_met(value)]
    if not missed:
        worst = (min if target.at_least else max)(medians, key=lambda row: magnitude(medians[row]))
        return f"{begin} met ({medians[worst]} at {worst}{' is the closest' if len(medians) > 1 else ''})."
    also_met = f"; met at {', '.join(met)}" if met else ""
    return f"{begin} missed ({', '.join(missed)}{also_met})."


def median(cell: str) -> str:
    """The first value of a cell, without the spread in brackets."""
    return cell.split(" (")[0]


def magnitude(text: str) -> float:
    """A printed value as a number, times in seconds."""
    value, _, unit = text.removeprefix("below ").partition(" ")
    return float(value.replace(",", "")) * UNITS[unit]
