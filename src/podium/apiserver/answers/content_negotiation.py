"""Which form of an answer a client accepts, from its `Accept` header.

Two refusals differ upstream: a header that names no known media type is refused by the router, a
known one with parameters that mean nothing here (`as=Odd`) by the encoder. Protobuf is spoken only
to clients that accept nothing else, because stored objects are JSON already.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from podium.kubernetes import status_errors

JSON: Final = "application/json"
YAML: Final = "application/yaml"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
_KNOWN: Final = (JSON, YAML, PROTOBUF)
STREAMS: Final = (
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
)
_WHOLE: Final[tuple[dict[str, str], ...]] = ({}, {"stream": "watch"})
_FORMS: Final = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
_META_GROUP: Final = "meta.k8s.io"
_META_VERSIONS: Final = ("v1", "v1beta1")
DISCOVERY: Final = "APIGroupDiscoveryList"
_DISCOVERY_GROUP: Final = "apidiscovery.k8s.io"
_DISCOVERY_VERSIONS: Final = ("v2", "v2beta1")


class Accepted(NamedTuple):
    """A media type and, where asked for, another kind that the objects are shown as."""

    media_type: str = JSON
    shown_as: str = ""
    version: str = ""

    @property
    def is_plain(self) -> bool:
        """Whole objects in JSON."""
        return not self.shown_as and self.media_type == JSON


class _Clause(NamedTuple):
    media_type: str
    parameters: dict[str, str]
    weight: float


@lru_cache(maxsize=512)
def negotiate_form(header: str, *, is_list: bool = False) -> Accepted:
    """The best form for objects; a StatusError of code 406 if there is none."""
    clauses = _clauses(header)
    if not clauses:
        return Accepted()
    for clause in clauses:
        found = _match(clause)
        if found is not None:
            return found
    if any(each.media_type == PROTOBUF and each.parameters in _WHOLE for each in clauses):
        return Accepted(PROTOBUF)
    offered = (*_KNOWN, *STREAMS) if is_list else _KNOWN
    if not any(_is_known(clause.media_type) for clause in clauses):
        raise status_errors.not_acceptable(
            f"406: Not Acceptable\n\nAvailable representations: {', '.join(offered)}", details={}
        )
    raise other_form()


def other_form() -> status_errors.StatusError:
    """A known media type in a form that the object has none of."""
    return status_errors.not_acceptable(
        f"only the following media types are accepted: {', '.join(_KNOWN)}"
    )


@lru_cache(maxsize=64)
def accepted_discovery(header: str) -> Accepted:
    """The form of a discovery document: all groups in one, if the client knows that form."""
    for clause in _clauses(header):
        form = clause.parameters.get("as", "")
        if clause.media_type not in (JSON, "*/*", "application/*"):
            continue
        if not form:
            return Accepted()
        if (
            form == DISCOVERY
            and clause.parameters.get("g") == _DISCOVERY_GROUP
            and clause.parameters.get("v") in _DISCOVERY_VERSIONS
        ):
            return Accepted(JSON, form, clause.parameters["v"])
    return Accepted()


def _match(clause: _Clause) -> Accepted | None:
    media_type = clause.media_type
    if media_type in ("*/*", "application/*"):
        media_type = JSON
    elif media_type not in (JSON, YAML):
        return None
    if clause.parameters.get("stream", "watch") != "watch":
        return None
    form = clause.parameters.get("as", "")
    if not form:
        return Accepted(media_type)
    version = clause.parameters.get("v", "")
    if (
        form not in _FORMS
        or clause.parameters.get("g") != _META_GROUP
        or version not in _META_VERSIONS
    ):
        return None
    return Accepted(media_type, form, version)


def _is_known(media_type: str) -> bool:
    return media_type in ("*/*", "application/*") or media_type in _KNOWN


def _clauses(header: str) -> list[_Clause]:
    """The alternatives of a header, the most wanted first."""
    clauses: list[_Clause] = []
    for part in header.split(","):
        media_type, *written = (piece.strip() for piece in part.split(";"))
        if not media_type:
            continue
        parameters: dict[str, str] = {}
        for piece in written:
            name, _, value = piece.partition("=")
            parameters[name.strip()] = value.strip()
        clauses.append(_Clause(media_type, parameters, _weight(parameters.pop("q", "1"))))
    return sorted(clauses, key=lambda clause: -clause.weight)


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0
