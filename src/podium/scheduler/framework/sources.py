"""Data from outside the cluster: who fetches it, how old it may be, and how a cycle reads it.

A plugin that needs measurements or a registry must not wait for them inside a cycle. It declares a
source (`Plugin.sources`); the driver fetches it in the background and puts what came into the
engine; a cycle reads the last answer as a column of numbers over the nodes. What is older than the
source allows is unknown again, so nobody decides by numbers of long ago.

    class Temperatures(Source):
        name, refresh_every_s, max_age_s = "temperatures", 15.0, 60.0

        async def fetch(self) -> Mapping[str, float]:
            return await measured()

A vector made from a column names the column's `version` in its `Dependence`. The version moves with
every answer that differs and when the answer gets too old, which no object of the cluster shows:
such a dependence must say neither `of_objects` nor `of_shape`.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.growth import Rows
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.framework.faults import WrongAnswer

MAX_VALUES: Final = 200_000
"""Of one source: several times the nodes of the largest clusters."""

Floats = npt.NDArray[np.float64]
Version = tuple[int, bool]


class SourceError(ValueError):
    """A source is declared in a way that cannot be, or is not declared at all."""


class ValueSource:
    """Something to be fetched again and again; any value that its plugin understands.

    Two sources of one class with equal attributes are one source: the plugins of several profiles
    share what is fetched.
    """

    name: str = ""
    """Under which the plugin reads it; one name, one source."""

    refresh_every_s: float = 30.0
    max_age_s: float = 120.0
    """From when on an answer that was not followed by another counts as unknown."""

    timeout_s: float = 10.0
    """How long one fetch may take."""

    async def fetch(self) -> object:
        """Ask whoever knows. Must await what it waits for (`asyncio.to_thread` for what blocks);
        raises when there is no answer. The value must not be changed afterwards."""
        raise NotImplementedError

    def checked(self, value: object) -> object:
        """The value to keep; raises WrongAnswer for one that means nothing."""
        return value

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class Source(ValueSource):
    """A number per node, by node name. Nodes that are left out are unknown."""

    async def fetch(self) -> Mapping[str, float]:
        raise NotImplementedError

    def checked(self, value: object) -> dict[str, float]:
        if not isinstance(value, Mapping):
            raise WrongAnswer("fetch", "numbers by node name", value)
        if len(value) > MAX_VALUES:
            raise WrongAnswer("fetch", f"at most {MAX_VALUES} numbers", len(value))
        for name, number in value.items():
            if isinstance(number, bool) or not isinstance(number, int | float | np.number):
                raise WrongAnswer("fetch", f"a number for {name}", number)
        return {str(name): float(number) for name, number in value.items()}


class SourceColumn:
    """What is known of one source, as a cycle reads it."""

    def __init__(self, source: ValueSource, nodes: NodeTable, clock: Callable[[], float]) -> None:
        self.source = source
        self.problem = ""
        """Why the last fetch gave nothing; empty if it went well."""
        self._nodes = nodes
        self._clock = clock
        self._value: object = None
        self._at = -math.inf
        self._number = 0
        self._column: Floats = np.zeros(0)
        self._column_for: tuple[int, int, int] | None = None

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def age_s(self) -> float:
        """Seconds since the last answer; infinite before the first."""
        return max(0.0, self._clock() - self._at)

    @property
    def is_stale(self) -> bool:
        """Whether there is no answer, or none that still counts."""
        return self.age_s > self.source.max_age_s

    @property
    def version(self) -> Version:
        """Moves when what `value` and `values` give may be another."""
        return self._number, self.is_stale

    @property
    def value(self) -> object:
        """The last answer whole, None while it is stale."""
        return None if self.is_stale else self._value

    def values(self, rows: Rows) -> Floats:
        """The numbers of some rows; NaN where they are unknown or stale."""
        if not isinstance(self.source, Source):
            kind = type(self.source).__name__
            raise SourceError(f"source {self.name} has no numbers: {kind} is no Source")
        if self.is_stale:
            count = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
            return np.full(count, math.nan)
        return self._whole()[rows].copy()

    def _whole(self) -> Floats:
        nodes = self._nodes
        moment = (self._number, nodes.membership, nodes.size)
        if moment != self._column_for:
            known = self._value if isinstance(self._value, dict) else {}
            names = nodes.names[: nodes.size]
            numbers = (known.get(name, math.nan) for name in names)
            self._column = np.fromiter(numbers, dtype=np.float64, count=nodes.size)
            self._column_for = moment
        return self._column

    def keep(self, value: object, at: float) -> bool:
        """Take an answer; whether it says something else than what was known."""
        value = self.source.checked(value)
        same = isinstance(self.source, Source) and value == self._value
        is_new = self.is_stale or not same
        self._at = at
        self.problem = ""
        if is_new:
            self._value = value
            self._number += 1
        return is_new


class Sources:
    """The sources of all plugins of an engine, by name."""

    def __init__(self, nodes: NodeTable, clock: Callable[[], float] = lambda: 0.0) -> None:
        self._nodes = nodes
        self._clock = clock
        self._columns: dict[str, SourceColumn] = {}
        self._declared_by: dict[str, str] = {}

    def declare(self, source: ValueSource, plugin: str) -> None:
        """Raises SourceError."""
        if not isinstance(source, ValueSource):
            raise SourceError(f"{type(source).__name__} is no source: inherit Source")
        name = source.name
        if not name:
            raise SourceError(f'{type(source).__name__} has no name: set `name = "..."` in it')
        for field in ("refresh_every_s", "max_age_s", "timeout_s"):
            seconds = getattr(source, field)
            if not (isinstance(seconds, int | float) and 0 < seconds < math.inf):
                raise SourceError(f"source {name}: {field} must be seconds, not {seconds!r}")
        held = self._columns.get(name)
        if held is None:
            self._columns[name] = SourceColumn(source, self._nodes, self._clock)
            self._declared_by[name] = plugin
        elif held.source != source:
            raise SourceError(
                f"source {name} of plugin {plugin} is not the one that plugin"
                f" {self._declared_by[name]} declared: give it a name of its own"
            )

    def column(self, name: str) -> SourceColumn:
        """Raises SourceError for a name that no plugin has declared."""
        found = self._columns.get(name)
        if found is None:
            known = ", ".join(self._columns) or "none"
            raise SourceError(f"no plugin declares a source {name} (declared: {known})")
        return found

    def __iter__(self) -> Iterator[SourceColumn]:
        return iter(self._columns.values())

    def __len__(self) -> int:
        return len(self._columns)
