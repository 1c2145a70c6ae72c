"""Accepting the names of a definition, after which its resource is served.

Upstream leaves this to controllers; here it happens right after the definition is written, so that
the resource is there when the answer is. The answer itself shows the definition as it was before.
"""

from collections.abc import Iterable

from podium.golang.json_values import JsonObject
from podium.golang.quoting import quoted

_ACCEPTED = "NamesAccepted"
_ESTABLISHED = "Established"


def begin(crd: JsonObject) -> None:
    """In place: the status of a definition whose names nobody has looked at yet."""
    stored = [each["name"] for each in crd["spec"].get("versions") or () if each.get("storage")]
    crd["status"] = {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": stored,
    }


def accept_names(crd: JsonObject, others: Iterable[JsonObject], now: str) -> None:
    """In place: the status that follows from the names of a definition and of all others."""
    status = crd.setdefault("status", {})
    names = crd["spec"]["names"]
    conflict = _conflict(crd, others)
    if conflict is None:
        status["acceptedNames"] = dict(names)
        _set_condition(crd, _ACCEPTED, "True", "NoConflicts", "no conflicts found", now)
        told = "the initial names have been accepted"
        if not is_established(crd):
            _set_condition(crd, _ESTABLISHED, "True", "InitialNamesAccepted", told, now)
    else:
        reason, told = conflict
        status.setdefault("acceptedNames", {"plural": "", "kind": ""})
        _set_condition(crd, _ACCEPTED, "False", reason, told, now)
        if not is_established(crd):
            told = "not all names are accepted"
            _set_condition(crd, _ESTABLISHED, "False", "NotAccepted", told, now)
    stored = list(status.get("storedVersions") or ())
    for version in crd["spec"].get("versions") or ():
        if version.get("storage") and version["name"] not in stored:
            stored.append(version["name"])
    status["storedVersions"] = stored


def is_established(crd: JsonObject) -> bool:
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(
        each.get("type") == _ESTABLISHED and each.get("status") == "True" for each in conditions
    )


def _conflict(crd: JsonObject, others: Iterable[JsonObject]) -> tuple[str, str] | None:
    """The reason and text of the first name that another definition of the group has."""
    resources: set[str | None] = set()
    kinds: set[str | None] = set()
    for other in others:
        is_rival = other["spec"]["group"] == crd["spec"]["group"]
        if not is_rival or other["metadata"]["name"] == crd["metadata"]["name"]:
            continue
        taken = (other.get("status") or {}).get("acceptedNames") or {}
        resources |= {taken.get("plural"), taken.get("singular"), *(taken.get("shortNames") or ())}
        kinds |= {taken.get("kind"), taken.get("listKind")}
    names = crd["spec"]["names"]
    for field, reason, used in (
        ("listKind", "ListKindConflict", kinds),
        ("kind", "KindConflict", kinds),
        ("shortNames", "ShortNamesConflict", resources),
        ("singular", "SingularConflict", resources),
        ("plural", "PluralConflict", resources),
    ):
        wanted = names.get(field) or ()
        for name in (wanted,) if isinstance(wanted, str) else wanted:
            if name in used:
                return reason, f"{quoted(name)} is already in use"
    return None


def _set_condition(
    crd: JsonObject, kind: str, status: str, reason: str, message: str, now: str
) -> None:
    conditions = list(crd["status"].get("conditions") or ())
    old = next((each for each in conditions if each["type"] == kind), None)
    since = old["lastTransitionTime"] if old and old["status"] == status else now
    new = {
        "type": kind,
        "status": status,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    }
    if old is None:
        conditions.append(new)
    else:
        conditions[conditions.index(old)] = new
    crd["status"]["conditions"] = conditions
