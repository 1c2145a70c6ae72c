"""Keep pods off nodes in hot racks and prefer cool ones: a plugin with data from outside.

Temperatures come from a file (`file: /run/temperatures.json`) or an endpoint on this machine
(`url: http://127.0.0.1:9100/temperatures`), as JSON: `{"node-1": 31.5, ...}`, in degrees Celsius. A
node without a number, or with one that is too old, is neither kept off nor preferred.
"""

import asyncio
import json
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from podium.plugin import (
    Action,
    Cycle,
    Dependence,
    FilterPlugin,
    Ints,
    Registration,
    Resource,
    Rows,
    ScorePlugin,
    Source,
    SourceColumn,
    Verdict,
    rejecting,
    unschedulable,
)

HOT = unschedulable("node(s) were in a rack that is too hot")
MAX_BYTES = 1 << 20


class Temperatures(Source):
    name = "rack-temperatures"
    refresh_every_s = 15.0
    max_age_s = 90.0
    timeout_s = 2.0

    def __init__(self, place: str) -> None:
        self.place = place

    async def fetch(self) -> Mapping[str, float]:
        found: dict[str, float] = json.loads(await asyncio.to_thread(self._read))
        return found

    def _read(self) -> bytes:
        if "://" not in self.place:
            with Path(self.place).open("rb") as file:
                return file.read(MAX_BYTES)
        with urllib.request.urlopen(self.place, timeout=self.timeout_s) as answer:
            return bytes(answer.read(MAX_BYTES))


class RackTemperature(FilterPlugin, ScorePlugin):
    name = "RackTemperature"
    in_range = True

    class Args(msgspec.Struct):
        file: str = ""
        url: str = ""
        limit: float = 35.0

    args: Args

    def sources(self) -> Sequence[Source]:
        return [Temperatures(self.args.url or self.args.file)]

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return rejecting(self._measured.values(rows) > self.args.limit, HOT)

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        share = self._measured.values(rows) / self.args.limit
        scores = np.where(np.isnan(share), 50, 100 - 100 * np.clip(share, 0, 1))
        return scores.astype(np.int64)

    # Nothing about the pod matters, nor do pods on the node: only what was measured.

    def filter_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(fragment=None, usage=False, version=self._measured.version)

    def score_depends(self, cycle: Cycle) -> Dependence:
        return self.filter_depends(cycle)

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.SOURCE, Action.UPDATE),
            Registration(Resource.NODE, Action.ADD),
        )

    @property
    def _measured(self) -> SourceColumn:
        return self.handle.sources.column(Temperatures.name)
