"""What happened when, on the virtual clock: the engine's pod log as the lives of pods.

A life is a pod's lines in the pod log, with times counted from the start of the run. Ten thousand
lives are mostly the same few lives at different times; pods that went through the same steps are
one group, and what differs (times, how often) becomes a range.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from podium.scheduler.engine.observer import Line, PodLog


class Timeline:
    """Lives of pods by key, in the order in which they were first heard of."""

    def __init__(self, pod_log: PodLog, start: float) -> None:
        """`start` is the engine's clock when the run began."""
        self._pod_log = pod_log
        self._start = start

    def pods(self) -> list[str]:
        return self._pod_log.pods()

    def life(self, key: str) -> list[Line]:
        """A pod's lines; times are seconds since the start of the run, exact to a microsecond."""
        return [
            replace(line, at=round(line.at - self._start, 6)) for line in self._pod_log.lines(key)
        ]

    def lives(self) -> Iterator[tuple[str, list[Line]]]:
        for key in self.pods():
            yield key, self.life(key)

    def length_s(self) -> float:
        """When the last thing happened."""
        return max((life[-1].at for _, life in self.lives() if life), default=0.0)

    def groups(self) -> list["LifeGroup"]:
        """Pods by what happened to them, the most frequent life first."""
        found: dict[tuple[LineKind, ...], LifeGroup] = {}
        for key, life in self.lives():
            kinds = tuple(dict.fromkeys(kind_of(line) for line in life))
            group = found.get(kinds)
            if group is None:
                group = found[kinds] = LifeGroup([LifeStep(kind) for kind in kinds])
            group.add(key, life)
        return sorted(found.values(), key=lambda group: -len(group.pods))


@dataclass(frozen=True, slots=True)
class LineKind:
    """What two lines of different pods have in common; `found` says that an attempt found a
    node, `event` is what a pod was woken by."""

    what: str
    plugins: tuple[str, ...] = ()
    found: bool = False
    event: str = ""


def kind_of(line: Line) -> LineKind:
    match line.what:
        case "tried":
            return LineKind(line.what, line.plugins, found=bool(line.about))
        case "woken":
            return LineKind(line.what, line.plugins, event=line.detail)
    return LineKind(line.what, line.plugins)


@dataclass(slots=True)
class LifeStep:
    """A kind of line in the lives of some pods: when it first happened, how often, to whom."""

    kind: LineKind
    earliest_s: float = float("inf")
    latest_s: float = float("-inf")
    fewest: int = 0
    most: int = 0
    first: Line | None = None

    def add(self, lines: Sequence[Line]) -> None:
        count = len(lines)
        self.fewest = min(self.fewest or count, count)
        self.most = max(self.most, count)
        self.earliest_s = min(self.earliest_s, lines[0].at)
        self.latest_s = max(self.latest_s, lines[0].at)
        self.first = self.first or lines[0]


@dataclass(slots=True)
class LifeGroup:
    """Pods that went through the same steps, in order of their first occurrence."""

    steps: list[LifeStep]
    pods: list[str] = field(default_factory=list)

    def add(self, key: str, life: Sequence[Line]) -> None:
        self.pods.append(key)
        by_kind: dict[LineKind, list[Line]] = {}
        for line in life:
            by_kind.setdefault(kind_of(line), []).append(line)
        for step in self.steps:
            step.add(by_kind[step.kind])
