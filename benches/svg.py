"""Two kinds of pictures: bars of ratios, and curves of growth on logarithmic axes."""

import math

STYLE = '<style>text{font:12px sans-serif;fill:#444}.ours{fill:#2a7f62}.line{stroke:#2a7f62;fill:none;stroke-width:2}.grid{stroke:#ccc}</style>'


def bars(title: str, rows: list[tuple[str, float]], limit: float | None, unit: str) -> str:
    """One bar a row; a line where the target is."""
    widest = max([value for _, value in rows] + [limit or 0]) or 1
    scale = 380 / widest
    height = 40 + 26 * len(rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="680" height="{height}">{STYLE}', f'<text x="8" y="18">{title}</text>']
    for i, (name, value) in enumerate(rows):
        top = 32 + 26 * i
        parts.append(f'<text x="8" y="{top + 14}">{name}</text>')
        parts.append(f'<rect class="ours" x="200" y="{top}" width="{value * scale:.1f}" height="18"/>')
        parts.append(f'<text x="{206 + value * scale:.1f}" y="{top + 14}">{value:.2f}{unit}</text>')
    if limit:
        x = 200 + limit * scale
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="26" y2="{height}" stroke-dasharray="4"/>')
    return "\n".join([*parts, "</svg>", ""])


def curve(title: str, points: list[tuple[float, float]], x_name: str, y_name: str) -> str:
    """Points and the line through them; both axes logarithmic."""
    xs, ys = [math.log10(x) for x, _ in points], [math.log10(y) for _, y in points]
    left, right, bottom, top = math.floor(min(xs)), math.ceil(max(xs)), math.floor(min(ys)), math.ceil(max(ys))
    place_x = lambda x: 70 + (x - left) / max(right - left, 1) * 540
    place_y = lambda y: 280 - (y - bottom) / max(top - bottom, 1) * 230
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="330">{STYLE}', f'<text x="8" y="18">{title}</text>']
    for power in range(left, right + 1):
        parts.append(f'<line class="grid" x1="{place_x(power)}" x2="{place_x(power)}" y1="50" y2="280"/>')
        parts.append(f'<text x="{place_x(power) - 12}" y="298">10^{power}</text>')
    for power in range(bottom, top + 1):
        parts.append(f'<line class="grid" x1="70" x2="610" y1="{place_y(power)}" y2="{place_y(power)}"/>')
        parts.append(f'<text x="24" y="{place_y(power) + 4}">10^{power}</text>')
    dots = [(place_x(x), place_y(y)) for x, y in zip(xs, ys, strict=True)]
    parts.append('<polyline class="line" points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in dots) + '"/>')
    parts += [f'<circle class="ours" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in dots]
    parts.append(f'<text x="300" y="322">{x_name}</text><text x="8" y="40">{y_name}</text>')
    return "\n".join([*parts, "</svg>", ""])
