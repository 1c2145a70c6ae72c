"""`/flagz` and `/statusz`: how the scheduler was started and how it is doing.

For people there is text whose separators change from one request to the next, so that no program
comes to rely on it; programs ask for JSON or YAML (or CBOR, where its gate is on) by kind and
version.

Sources: `staging/src/k8s.io/apiserver/pkg/server/{flagz,statusz}`.

Which form of an answer a client takes: the Accept header of the pages about flags and status. Text
is what everybody gets who does not ask for anything else. A structured form has to be named by
kind, version and group (`application/json;as=Flagz;v=v1beta1;g=config.k8s.io`); anything else is
not acceptable. Clauses are looked at by their quality, then in their order.

Source: `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/negotiation`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any, Final, NamedTuple

import yaml

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.timestamps import time_text
from podium.live.exposition import runtime
from podium.live.serving import cbor
from podium.live.serving.exchange import TEXT, PageRequest, PageResponse, document, refusal

GROUP: Final = "config.k8s.io"
_VERSIONS: Final = ("v1beta1", "v1alpha1")
_OLD: Final = "v1alpha1"


class AcceptedForm(NamedTuple):
    """A media type, and the version for structured ones."""

    media_type: str
    version: str = ""

    @property
    def is_old(self) -> bool:
        return self.version == _OLD


PLAIN: Final = AcceptedForm("text/plain")
CBOR: Final = "application/cbor"
SUPPORTED: Final = ("application/json", "application/yaml", "text/plain")
SUPPORTED_WITH_CBOR: Final = (*SUPPORTED, CBOR)


def wanted_form(accept: str, kind: str, offered: Sequence[str] = SUPPORTED) -> AcceptedForm | None:
    """The form that a client wants an object of a kind in; None if there is none it would take."""
    if not accept.strip():
        return PLAIN
    clauses = [_clause(written) for written in accept.split(",")]
    for quality, media_type, parameters in sorted(clauses, key=lambda clause: -clause[0]):
        if quality > 0:
            for supported in offered:
                form = _form(media_type, supported, parameters, kind)
                if form is not None:
                    return form
    return None


def _clause(written: str) -> tuple[float, str, dict[str, str]]:
    media_type, *rest = (part.strip() for part in written.split(";"))
    parameters: dict[str, str] = {}
    quality = 1.0
    for part in rest:
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name == "q":
            try:
                quality = float(value)
            except ValueError:
                quality = 1.0
        else:
            parameters[name] = value
    return quality, media_type.lower(), parameters


def _form(
    wanted: str, supported: str, parameters: dict[str, str], kind: str
) -> AcceptedForm | None:
    family = supported.partition("/")[0]
    if wanted not in (supported, f"{family}/*", "*/*", "*"):
        return None
    is_structured = "as" in parameters
    if supported == PLAIN.media_type:
        return None if is_structured else PLAIN
    version = parameters.get("v", "")
    named = (parameters.get("as"), parameters.get("g"))
    if named != (kind, GROUP) or version not in _VERSIONS:
        return None
    return AcceptedForm(supported, version)


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
            return _answer_structured(request, form, "Flagz", {"flags": self._flags})
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
            return _answer_structured(request, form, "Statusz", fields)
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


def _answer_structured(
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
