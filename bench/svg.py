"""Two kinds of plot as SVG, drawn the same way every time: bars beside each other, and lines over sizes that grow tenfold."""

import math
from collections.abc import Mapping, Sequence
from html import escape

import msgspec

_WIDTH, _LEFT, _TOP, _ROW = 720, 250, 40, 26
_HEIGHT, _BOTTOM = 360, 50
_RIGHT = 110
_OURS, _OTHERS = "#1d6fb8", "#9aa4ae"
_COLOURS = ("#1d6fb8", "#d1622b", "#3c8d5a", "#8a5bb0", "#b8932d", "#5c6670")
Points = Sequence[tuple[float, float]]


class Bar(msgspec.Struct, frozen=True):
    """One value; ours stands out."""

    label: str
    value: float
    ours: bool = False


def bars(title: str, unit: str, values: Sequence[Bar]) -> str:
    """Lengths in proportion, from zero."""
    most = max((bar.value for bar in values), default=0.0) or 1.0
    room = _WIDTH - _LEFT - _RIGHT
    shapes = []
    for row, bar in enumerate(values):
        y = _TOP + row * _ROW
        length = max(bar.value, 0.0) / most * room
        shapes += [
            _text(_LEFT - 8, y + 15, bar.label, "end"),
            f'<rect x="{_LEFT}" y="{y + 3}" width="{length:.1f}" height="{_ROW - 8}" fill="{_OURS if bar.ours else _OTHERS}"/>',
            _text(_LEFT + length + 6, y + 15, f"{spoken(bar.value)} {unit}"),
        ]
    return _document(title, _TOP + len(values) * _ROW + 14, shapes)


def lines(title: str, across: str, unit: str, series: Mapping[str, Points]) -> str:
    """A line for each name, on scales where a step is a factor of ten."""
    points = [point for line in series.values() for point in line]
    x_low, x_high = _decades([x for x, _ in points])
    y_low, y_high = _decades([y for _, y in points])
    left, right, top, bottom = 80, _WIDTH - 190, _TOP, _HEIGHT - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            left + (math.log10(x) - x_low) / (x_high - x_low) * (right - left),
            bottom - (math.log10(y) - y_low) / (y_high - y_low) * (bottom - top),
        )

    shapes = []
    for power in range(x_low, x_high + 1):
        x, _ = place(10.0**power, 10.0**y_low)
        shapes += [_rule(x, top, x, bottom), _text(x, bottom + 18, f"{10**power:,}", "middle")]
    for power in range(y_low, y_high + 1):
        _, y = place(10.0**x_low, 10.0**power)
        shapes += [_rule(left, y, right, y), _text(left - 8, y + 4, spoken(10.0**power), "end")]
    for number, (name, line) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line))
        shapes.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        y = top + 10 + number * 20
        shapes += [f'<rect x="{right + 16}" y="{y - 6}" width="14" height="4" fill="{colour}"/>', _text(right + 36, y, name)]
    shapes += [_text((left + right) / 2, _HEIGHT - 12, across, "middle"), _text(left - 8, top - 10, unit, "end")]
    return _document(title, _HEIGHT, shapes)


def spoken(value: float) -> str:
    """A number with as many digits as matter."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.1f}" if abs(value) >= 1 else f"{value:.2f}"


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around all values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _rule(x: float, y: float, x2: float, y2: float) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#e3e6e9"/>'


def _document(title: str, height: int, shapes: Sequence[str]) -> str:
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    font = 'font-family="system-ui, sans-serif" font-size="13" fill="#22272c"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>',
            f"<title>{escape(title)}</title>",
            f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
            f'<text x="14" y="22" font-size="15" font-weight="600">{escape(title)}</text>',
            *shapes,
            "</svg>\n",
        ]
    )
