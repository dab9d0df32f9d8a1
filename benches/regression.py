"""Least-squares lines."""

import math


def slope(points: list[tuple[float, float]]) -> float:
    """The slope of the line through the logarithms: 1 is linear, 2 is quadratic."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    products = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return products / sum((x - x_mean) ** 2 for x in xs)


def line(points: list[tuple[float, float]]) -> tuple[float, float, float]:
    """Intercept, slope, and the largest deviation of a point."""
    x_mean, y_mean = (sum(values) / len(points) for values in zip(*points, strict=True))
    steepness = sum((x - x_mean) * (y - y_mean) for x, y in points) / sum((x - x_mean) ** 2 for x, _ in points)
    base = y_mean - steepness * x_mean
    return base, steepness, max(abs(y - base - steepness * x) for x, y in points)
