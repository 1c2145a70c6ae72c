"""A flame graph as an SVG file: width is time, what stands on a function was called by it.

Drawn by hand because a graph of rectangles needs no library. Hovering names the function in full
with its share of the samples.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape

WIDTH = 1200
ROW = 17
MARGIN = 10
HEAD = 44
LETTER = 6.3
"""About the width of a letter of the font below."""
NARROWEST = 0.4
"""Frames that would be narrower are left out."""

_STYLE = (
    "text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#222}"
    ".t{font-size:15px}.n{fill:#666}rect{stroke:#fff;stroke-width:.5}"
)


@dataclass(slots=True)
class Frame:
    """A function with everything that was seen above it."""

    name: str
    samples: int = 0
    above: dict[str, "Frame"] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        return 1 + max((frame.depth for frame in self.above.values()), default=0)


def tree_of(stacks: Mapping[str, int]) -> Frame:
    """Merge stacks (functions separated by semicolons) from their roots on."""
    root = Frame("all")
    for stack, samples in stacks.items():
        root.samples += samples
        frame = root
        for name in stack.split(";"):
            frame = frame.above.setdefault(name, Frame(name))
            frame.samples += samples
    return root


def trunk(root: Frame) -> Frame:
    """Without the frames at the bottom that all stacks share."""
    frame = root
    while len(frame.above) == 1:
        (only,) = frame.above.values()
        if only.samples != root.samples or not only.above:
            break
        frame = only
    return frame


def draw_flame_graph(stacks: Mapping[str, int], title: str) -> str:
    """The graph as text of an SVG file."""
    root = trunk(tree_of(stacks))
    rows = min(root.depth, 80)
    height = HEAD + rows * ROW + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        f' width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title)}">',
        f"<style>{_STYLE}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text class="t" x="{MARGIN}" y="22">{escape(title)}</text>',
        f'<text class="n" x="{MARGIN}" y="38">{root.samples:,} samples of CPU time;'
        " hover for names and shares</text>",
    ]
    if root.samples:
        scale = (WIDTH - 2 * MARGIN) / root.samples
        parts.extend(_boxes(root, float(MARGIN), 0, scale, root.samples, height, rows))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _boxes(
    frame: Frame, x: float, level: int, scale: float, all_samples: int, height: int, rows: int
) -> Iterator[str]:
    width = frame.samples * scale
    if width < NARROWEST or level >= rows:
        return
    y = height - MARGIN - (level + 1) * ROW
    share = 100 * frame.samples / all_samples
    letters = int((width - 6) / LETTER)
    label = frame.name.partition(" (")[0]
    shown = label if len(label) <= letters else label[: letters - 1] + "…" if letters > 3 else ""
    yield (
        f"<g><title>{escape(frame.name)}: {share:.1f} %</title>"
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 1}"'
        f' fill="{_color(frame.name)}"/>'
        + (f'<text x="{x + 3:.1f}" y="{y + 12}">{escape(shown)}</text>' if shown else "")
        + "</g>"
    )
    for above in sorted(frame.above.values(), key=lambda other: other.name):
        yield from _boxes(above, x, level + 1, scale, all_samples, height, rows)
        x += above.samples * scale


def _color(name: str) -> str:
    """Warm colours, the same for functions of one file."""
    place = name.rpartition("(")[2]
    mark = sum(ord(letter) * (index + 1) for index, letter in enumerate(place))
    return f"hsl({8 + mark % 45} {70 + mark % 20}% {66 + mark % 14}%)"
