"""Two kinds of pictures: bars of ratios, and curves of growth on logarithmic axes."""

import math

COLORS = ["#2a7f62", "#b5541c", "#3b5b92", "#8a6d1d"]
STYLE = "<style>text{font:12px sans-serif;fill:#555}.grid{stroke:#bbb}</style>"


def bars(title: str, rows: list[tuple[str, float]], limit: float | None = None) -> str:
    """One bar a row; a line where the target is."""
    widest = max([value for _, value in rows] + [limit or 0]) or 1
    scale = 380 / widest
    height = 40 + 26 * len(rows)
    parts = [_head(680, height), f'<text x="8" y="18">{title}</text>']
    for i, (name, value) in enumerate(rows):
        top = 32 + 26 * i
        parts.append(f'<text x="8" y="{top + 14}">{name}</text>')
        parts.append(f'<rect fill="{COLORS[0]}" x="200" y="{top}" width="{value * scale:.1f}" height="18"/>')
        parts.append(f'<text x="{206 + value * scale:.1f}" y="{top + 14}">{value:.3g}×</text>')
    if limit:
        x = 200 + limit * scale
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="26" y2="{height}" stroke-dasharray="4"/>')
    return "\n".join([*parts, "</svg>", ""])


def curves(title: str, series: dict[str, list[tuple[float, float]]], x_name: str) -> str:
    """Points and lines through them; both axes logarithmic."""
    points = [point for each in series.values() for point in each]
    xs, ys = [math.log10(x) for x, _ in points], [math.log10(y) for _, y in points]
    left, right, bottom, top = math.floor(min(xs)), math.ceil(max(xs)), math.floor(min(ys)), math.ceil(max(ys))

    def place(x: float, y: float) -> tuple[float, float]:
        return 70 + (x - left) / max(right - left, 1) * 480, 280 - (y - bottom) / max(top - bottom, 1) * 230

    parts = [_head(680, 330), f'<text x="8" y="18">{title}</text>']
    for power in range(left, right + 1):
        x, _ = place(power, bottom)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="50" y2="280"/>')
        parts.append(f'<text x="{x - 14:.1f}" y="298">{10**power:,}</text>')
    for power in range(bottom, top + 1):
        _, y = place(left, power)
        parts.append(f'<line class="grid" x1="70" x2="550" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="8" y="{y + 4:.1f}">{10.0**power:g} s</text>')
    for color, (name, each) in zip(COLORS, series.items(), strict=False):
        dots = [place(math.log10(x), math.log10(y)) for x, y in each]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
        parts.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{line}"/>')
        parts += [f'<circle fill="{color}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in dots]
        parts.append(f'<text x="{dots[-1][0] + 10:.1f}" y="{dots[-1][1] + 4:.1f}" style="fill:{color}">{name}</text>')
    parts.append(f'<text x="280" y="322">{x_name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _head(width: int, height: int) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{STYLE}'
