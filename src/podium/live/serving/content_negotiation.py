"""Which form of an answer a client takes: the Accept header of the pages about flags and status.

Text is what everybody gets who does not ask for anything else. A structured form has to be named
by kind, version and group (`application/json;as=Flagz;v=v1beta1;g=config.k8s.io`); anything else is
not acceptable. Clauses are looked at by their quality, then in their order.

Source: `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/negotiation`.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

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
