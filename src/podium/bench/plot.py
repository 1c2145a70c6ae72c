"""A plot of results as an SVG file: a bar for each workload, as long as its fastest run is fast.

The dark mark runs from the slowest run to the fastest, so that a difference can be judged against
the noise it was measured in. With an earlier run the plot has two bars for each workload.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from podium.bench.results import Recorded

WIDTH = 900
NAMES = 340
RIGHT = 90
HEAD = 62
BAR = 14
GAP = 8
FOOT = 30
_TICKS = 5
_NOW, _BEFORE, _MARK = "#3f7fbf", "#c3d5e6", "#1d3a57"
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#222}.t{font-size:16px}.n{fill:#666}"
    ".r{text-anchor:end}.m{text-anchor:middle}"
)


def draw_plot(
    results: Sequence[Recorded], title: str, before: Mapping[str, Recorded] | None = None
) -> str:
    """The plot as text of an SVG file; `before` is by full name."""
    earlier = before or {}
    rows = [(result, earlier.get(result.name)) for result in results]
    most = max((one.pods_per_s for row in rows for one in row if one is not None), default=1.0)
    step = nice_step(most / _TICKS)
    end = step * math.ceil(most / step) or 1.0
    scale = (WIDTH - NAMES - RIGHT) / end
    heights = [(BAR * 2 if old is not None else BAR) + GAP for _, old in rows]
    bottom = HEAD + sum(heights)
    height = bottom + FOOT
    note = "pods a second, fastest run; the dark mark reaches from the slowest run to the fastest"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        f' width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title)}">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text class="t" x="12" y="24">{escape(title)}</text>',
        f'<text class="n" x="12" y="44">{note}{"; pale: before" if earlier else ""}</text>',
        *_axis(end, step, scale, bottom),
    ]
    y = HEAD
    for (now, old), tall in zip(rows, heights, strict=True):
        middle = y + (tall - GAP) / 2 + 4
        parts.append(f'<text class="r" x="{NAMES - 8}" y="{middle:.0f}">{escape(now.name)}</text>')
        parts.extend(_bar(now, y, scale, _NOW))
        if old is not None:
            parts.extend(_bar(old, y + BAR, scale, _BEFORE))
        y += tall
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _bar(result: Recorded, y: float, scale: float, color: str) -> Iterator[str]:
    best, slowest = result.pods_per_s, result.slowest
    low, high = NAMES + slowest * scale, NAMES + best * scale
    middle = y + BAR / 2
    yield (
        f"<g><title>{escape(result.name)}: {best:,.0f} pods/s, slowest run {slowest:,.0f}</title>"
        f'<rect x="{NAMES}" y="{y + 1}" width="{high - NAMES:.1f}" height="{BAR - 2}"'
        f' fill="{color}"/>'
        f'<path d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {y + 3}V{y + BAR - 3}'
        f'M{high:.1f} {y + 3}V{y + BAR - 3}" stroke="{_MARK}" fill="none"/>'
        f'<text class="n" x="{high + 6:.1f}" y="{middle + 4}">{best:,.0f}</text></g>'
    )


def _axis(end: float, step: float, scale: float, bottom: float) -> Iterator[str]:
    for number in range(round(end / step) + 1):
        x = NAMES + number * step * scale
        yield f'<path d="M{x:.1f} {HEAD - 6}V{bottom}" stroke="#e3e3e3"/>'
        yield f'<text class="n m" x="{x:.1f}" y="{bottom + 18}">{number * step:,.0f}</text>'


def nice_step(least: float) -> float:
    """1, 2 or 5 times a power of ten: the smallest such step that is not below `least`."""
    if least <= 1:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)
