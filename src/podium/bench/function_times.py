"""Where the time of a run goes: by function, by call stack, and as a flame graph.

Where the time of a run goes, by call stack: looked at every other millisecond of CPU time. A
profiler that counts calls knows callers but not whole stacks, and slows small functions down more
than large ones; samples do neither. Time inside compiled code belongs to the Python function that
called it.

A flame graph as an SVG file: width is time, what stands on a function was called by it. Drawn by
hand because a graph of rectangles needs no library. Hovering names the function in full with its
share of the samples.
"""

import cProfile
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from types import CodeType, FrameType
from typing import Any

from podium.golang.document_structs import Amount, Count, DocumentPart

MAX_FUNCTIONS = 40


class FunctionTime(DocumentPart, frozen=True, kw_only=True, rename=None):
    """What one function took of a run."""

    name: str
    """The function."""
    place: str
    """Its file and line."""
    calls: Count
    """How often it was called."""
    own_s: Amount
    """Seconds in the function itself."""
    total_s: Amount
    """Seconds with all that it calls."""
    share: Amount
    """Its own time's share of the run."""


class FunctionTimes:
    """Counts calls between entering and leaving."""

    def __init__(self) -> None:
        self._profile = cProfile.Profile()

    def __enter__(self) -> "FunctionTimes":
        self._profile.enable()
        return self

    def __exit__(self, *_: object) -> None:
        self._profile.disable()

    def top(self, most: int = MAX_FUNCTIONS) -> tuple[FunctionTime, ...]:
        """Functions by their own time, the longest first."""
        entries = sorted(self._profile.getstats(), key=lambda entry: -entry.inlinetime)
        whole_s = sum(entry.inlinetime for entry in entries) or 1.0
        found = []
        for entry in entries[:most]:
            name, place = describe_code(entry.code)
            found.append(
                FunctionTime(
                    name=name,
                    place=place,
                    calls=entry.callcount,
                    own_s=round(entry.inlinetime, 5),
                    total_s=round(entry.totaltime, 5),
                    share=round(entry.inlinetime / whole_s, 4),
                )
            )
        return tuple(found)


def describe_code(code: CodeType | str) -> tuple[str, str]:
    """A function's name and where it stands: `Engine.tick`, `scheduler/engine/scheduler.py:52`."""
    if isinstance(code, str):
        return code.strip("<>"), "built in"
    return code.co_qualname, f"{short_path(code.co_filename)}:{code.co_firstlineno}"


def short_path(path: str) -> str:
    """A file's path from its package on."""
    end = max(_end_of(mark, path) for mark in ("/podium/", "/site-packages/"))
    return path[end:] if end else path.rpartition("/")[2]


def _end_of(mark: str, path: str) -> int:
    """Where the last of its marks ends; zero without one."""
    before, found, _ = path.rpartition(mark)
    return len(before) + len(found)


EVERY_S = 0.002

Stack = tuple[str, ...]
"""Functions from the outermost to the one at work."""


class StackSamples:
    """Takes samples between entering and leaving; in the main thread only."""

    def __init__(self) -> None:
        self.stacks: Counter[Stack] = Counter()
        self._before: Any = None

    def __enter__(self) -> "StackSamples":
        self._before = signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, self._before)

    def _sample(self, _number: int, frame: FrameType | None) -> None:
        found: list[str] = []
        while frame is not None:
            found.append(f"{frame.f_code.co_qualname} ({short_path(frame.f_code.co_filename)})")
            frame = frame.f_back
        self.stacks[tuple(reversed(found))] += 1


def fold_stacks(stacks: Counter[Stack]) -> dict[str, int]:
    """Stacks as text, functions separated by semicolons, for sending and for other tools."""
    return {";".join(stack): count for stack, count in stacks.items()}


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
