"""What is served: the scheduler as its operators see it.

Values that change are callables and are asked for when somebody looks, so that a page never shows
more than is true at that moment.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Protocol

from podium.kubernetes.kinds.pod import Pod
from podium.live.serving.health import PING, Check
from podium.live.serving.record_pages import Records
from podium.live.serving.zpages import Standing
from podium.net.serving import Receive, Scope, Send

Application = Callable[[Scope, Receive, Send], Awaitable[None]]
UI: Final = "/ui"
"""Where the page for browsers is."""


class Shown(Protocol):
    """Metrics in their text form."""

    def text(self) -> bytes: ...

    def reset(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Surface:
    """`healthz` and `readyz` are checks in the order in which they are listed. `configuration` is
    the document of `/configz`, `flags` all flags as they would be written. `pods` and `leading` are
    for `/metrics/resources`, which only a leader fills. Without `set_verbosity` (profiling is
    disabled) there are no debug pages, without `records` none about pods and the queue. `ui`
    answers by itself what is asked for below `/ui`, once it is known that somebody may."""

    metrics: Shown
    configuration: Callable[[], Mapping[str, Any]]
    flags: Mapping[str, str]
    standing: Standing
    pods: Callable[[], Iterable[Pod]]
    leading: Callable[[], bool]
    healthz: Sequence[Check] = (PING,)
    readyz: Sequence[Check] = (PING,)
    set_verbosity: Callable[[int], None] | None = None
    records: Records | None = None
    ui: Application | None = None
    gates: Mapping[str, bool] = field(default_factory=dict)
    wall: Callable[[], float] = time.time
    randomness: Random = field(default_factory=Random)
