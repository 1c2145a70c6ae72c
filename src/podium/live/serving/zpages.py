"""`/flagz` and `/statusz`: how the scheduler was started and how it is doing.

For people there is text whose separators change from one request to the next, so that no program
comes to rely on it; programs ask for JSON or YAML (or CBOR, where its gate is on) by kind and
version.

Sources: `staging/src/k8s.io/apiserver/pkg/server/{flagz,statusz}`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any, Final

import yaml

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.timestamps import time_text
from podium.live.component_metrics import runtime
from podium.live.serving import cbor
from podium.live.serving.content_negotiation import CBOR, GROUP, AcceptedForm, wanted_form
from podium.live.serving.exchange import TEXT, PageRequest, PageResponse, document, refusal

COMPONENT: Final = "kube-scheduler"
_SEPARATORS: Final = (":", ": ", "=", " ")
_WARNING: Final = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility "
    "guarantees and is for debugging purposes only."
)


@dataclass(frozen=True, slots=True)
class Standing:
    """What does not change while a scheduler runs; `started_at` is in seconds since 1970."""

    started_at: float
    runtime: str
    binary_version: str
    emulation_version: str

    @classmethod
    def of(cls, started_at: float, gates: FeatureGates) -> "Standing":
        binary = gates.release.patch.removeprefix("v")
        return cls(started_at, runtime(), binary, str(gates.emulated))


class FlagPage:
    def __init__(
        self, flags: Mapping[str, str], randomness: Random, offered: Sequence[str]
    ) -> None:
        """`flags` are the values of all flags as they would be written."""
        self._flags = dict(sorted(flags.items()))
        self._randomness = randomness
        self._offered = offered

    def answer(self, request: PageRequest) -> PageResponse:
        form = wanted_form(request.header("accept"), "Flagz", self._offered)
        if form is None:
            return _not_acceptable(request, self._offered)
        if form.version:
            return _structured(request, form, "Flagz", {"flags": self._flags})
        separator = self._randomness.choice(_SEPARATORS)
        lines = (f"{name}{separator}{value}" for name, value in self._flags.items())
        return _page("flagz", *lines)


class StatusPage:
    def __init__(
        self,
        standing: Standing,
        paths: Sequence[str],
        wall: Callable[[], float],
        randomness: Random,
        offered: Sequence[str],
    ) -> None:
        self._standing = standing
        self._offered = offered
        self._paths = sorted({f"/{path.split('/')[1]}" for path in paths})
        self._wall = wall
        self._randomness = randomness

    def answer(self, request: PageRequest) -> PageResponse:
        form = wanted_form(request.header("accept"), "Statusz", self._offered)
        if form is None:
            return _not_acceptable(request, self._offered)
        standing = self._standing
        started = datetime.fromtimestamp(int(standing.started_at), UTC)
        up_s = max(0, int(self._wall() - started.timestamp()))
        if form.version:
            fields = {
                "startTime": time_text(standing.started_at),
                "uptimeSeconds": up_s,
                "goVersion": standing.runtime,
                "binaryVersion": standing.binary_version,
                "emulationVersion": standing.emulation_version,
                "paths": self._paths,
            }
            return _structured(request, form, "Statusz", fields)
        separator = self._randomness.choice(_SEPARATORS)
        up = f"{up_s // 3600} hr {up_s // 60 % 60:02d} min {up_s % 60:02d} sec"
        return _page(
            "statusz",
            "",
            f"Started{separator} {started:%a %b %e %H:%M:%S UTC %Y}",
            f"Up{separator} {up}",
            f"Go version{separator} {standing.runtime}",
            f"Binary version{separator} {standing.binary_version}",
            f"Emulation version{separator} {standing.emulation_version}",
            f"Paths{separator} {' '.join(self._paths)}",
        )


def _page(name: str, *lines: str) -> PageResponse:
    words = "\n".join(("", f"{COMPONENT} {name}", _WARNING, *lines, ""))
    return PageResponse(200, words.encode(), TEXT)


def _structured(
    request: PageRequest, form: AcceptedForm, kind: str, fields: dict[str, Any]
) -> PageResponse:
    obj = {
        "kind": kind,
        "apiVersion": f"{GROUP}/{form.version}",
        "metadata": {"name": COMPONENT},
        **fields,
    }
    headers: tuple[tuple[str, str], ...] = ()
    if form.is_old:
        old = f"This version of the {kind.lower()} endpoint is deprecated."
        headers = (("Warning", f'299 - "{old} Please use a newer version."'),)
    if form.media_type == "application/yaml":
        body = yaml.safe_dump(obj, allow_unicode=True).encode()
        return PageResponse(200, body, form.media_type, headers)
    if form.media_type == CBOR:
        return PageResponse(200, cbor.encode(obj), form.media_type, headers)
    written = document(request, obj)
    return PageResponse(200, written.body, form.media_type, headers)


def _not_acceptable(request: PageRequest, offered: Sequence[str]) -> PageResponse:
    accepted = ", ".join(offered)
    message = f"only the following media types are accepted: {accepted}"
    return refusal(request, 406, "NotAcceptable", message)
