"""The history of templates that stateful sets and daemon sets keep as ControllerRevisions.

`kubectl rollout history` and `undo` read them, and a stateful set that is rolled out in part needs
the template it came from. A template that comes back gets its old revision with a new number.

What a ControllerRevision holds, byte for byte, and the name that follows from it. A revision is a
strategic merge patch that puts the whole template back. Clients compare and hash its bytes, so
these are the ones that Go's encoding/json writes for a map: keys in order, `<`, `>` and `&`
escaped, integers by way of float64 (`pkg/controller/statefulset/stateful_set_utils.go`,
`pkg/controller/history/controller_history.go`).
"""

import json
from collections.abc import Collection, Sequence
from decimal import Decimal
from itertools import count
from typing import Any, Final, NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import Action, CreateAction, PatchAction, delete
from podium.kubernetes.controllers.objects import OwnerKind, owner_reference
from podium.kubernetes.controllers.ownership import settle_ownership
from podium.kubernetes.controllers.pod_templates import REVISION_HASH, template_hash
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.controllers.workloads import ControllerRevision, PodTemplate
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.resources.resource_types import CONTROLLER_REVISIONS
from podium.kubernetes.rules.labels import Selector

_HISTORY: Final = 10
_HASH: Final = "controller.kubernetes.io/hash"


class Revision(NamedTuple):
    """The revision of the present template, and the writes that record it."""

    name: str
    hash: str
    actions: list[Action]


def possible_revisions(stores: Stores, owner: ObjectMeta) -> list[ControllerRevision]:
    """The revisions that a set owns or could own."""
    revisions = stores.revisions
    return [*revisions.owned_by.of(owner.uid), *revisions.orphans.of(owner.namespace)]


def settle_revisions(
    kind: OwnerKind,
    owner: ObjectMeta,
    selector: Selector,
    template: PodTemplate,
    candidates: Sequence[ControllerRevision],
    *,
    labelled_by_name: bool,
    in_use: Collection[str],
    limit: int | None,
) -> Revision:
    """`in_use` are labels of pods that still run; their revisions are kept.

    Pods of stateful sets are labelled by a revision's name, those of daemon sets by its hash.
    """
    known, actions = settle_ownership(kind, owner, selector, CONTROLLER_REVISIONS, candidates)
    data = revision_data(template)
    wanted = go_map_bytes(data)
    equal = [each for each in known if go_map_bytes(each.data or {}) == wanted]
    present = max(equal, key=lambda each: each.revision, default=None)
    highest = max((each.revision for each in known), default=0)
    if present is None:
        taken = {each.name for each in candidates}
        mark = _free_hash(owner, template, data, taken, by_data=labelled_by_name)
        name = revision_name(owner.name, mark)
        label = _HASH if labelled_by_name else REVISION_HASH
        body = _revision(kind, owner, template, name, {label: mark}, highest + 1, data)
        actions.append(CreateAction(CONTROLLER_REVISIONS, owner.namespace, body))
    else:
        name = present.name
        mark = name.removeprefix(f"{owner.name}-")
        if present.revision < highest:
            number = {"revision": highest + 1}
            actions.append(PatchAction(CONTROLLER_REVISIONS, owner.namespace, name, number))
    unused = [
        each
        for each in sorted(known, key=lambda each: each.revision)
        if each.name != name
        and each.name not in in_use
        and each.name.removeprefix(f"{owner.name}-") not in in_use
    ]
    surplus = len(unused) - (_HISTORY if limit is None else limit)
    actions += [delete(CONTROLLER_REVISIONS, each) for each in unused[: max(surplus, 0)]]
    return Revision(name, mark, actions)


def template_of(revision: ControllerRevision) -> PodTemplate:
    """The template that a revision has kept."""
    written = ((revision.data or {}).get("spec") or {}).get("template") or {}
    return PodTemplate(metadata=written.get("metadata") or {}, spec=written.get("spec") or {})


def _free_hash(
    owner: ObjectMeta,
    template: PodTemplate,
    data: JsonObject,
    taken: Collection[str],
    *,
    by_data: bool,
) -> str:
    """The hash for a new revision; one that another template has already is worked out anew."""
    if not by_data:
        return template_hash(template)
    return next(
        mark
        for collisions in count()
        if revision_name(owner.name, mark := revision_hash(data, collisions)) not in taken
    )


def _revision(
    kind: OwnerKind,
    owner: ObjectMeta,
    template: PodTemplate,
    name: str,
    mark: dict[str, str],
    number: int,
    data: JsonObject,
) -> JsonObject:
    metadata: JsonObject = {
        "name": name,
        "labels": {**(template.metadata.get("labels") or {}), **mark},
        "ownerReferences": [owner_reference(kind, owner)],
    }
    if owner.annotations:
        metadata["annotations"] = dict(owner.annotations)
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": metadata,
        "data": data,
        "revision": number,
    }


_FNV_OFFSET: Final = 2166136261
_FNV_PRIME: Final = 16777619
_SAFE: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Letters and digits that spell no words."""
_MAX_PREFIX: Final = 223
_ESCAPES: Final = str.maketrans(
    {
        "<": "\\u003c",
        ">": "\\u003e",
        "&": "\\u0026",
        "\u2028": "\\u2028",
        "\u2029": "\\u2029",
    }
)


def revision_data(template: PodTemplate) -> JsonObject:
    """The patch that restores a template, its keys in order at every depth."""
    kept = {"$patch": "replace", "metadata": template.metadata, "spec": template.spec}
    return {"spec": {"template": _in_order(kept)}}


def go_map_bytes(value: JsonObject) -> bytes:
    """JSON of plain values as Go writes maps that it has read from JSON."""
    text = json.dumps(_in_order(value), ensure_ascii=False, separators=(",", ":"))
    return text.translate(_ESCAPES).encode("utf-8", "surrogatepass")


def revision_hash(data: JsonObject, collisions: int = 0) -> str:
    """The hash of a stateful set's revision: FNV-1 of its data and the count of collisions.

    >>> revision_hash({"spec": {"template": {"$patch": "replace"}}})
    '589f85db5b'
    """
    return safe_text(_fnv1_32(go_map_bytes(data) + str(collisions).encode()))


def revision_name(owner: str, mark: str) -> str:
    return f"{owner[:_MAX_PREFIX]}-{mark}"


def safe_text(number: int) -> str:
    """A number in letters and digits, as hashes are in names."""
    return "".join(_SAFE[ord(digit) % len(_SAFE)] for digit in str(number))


def _fnv1_32(data: bytes) -> int:
    found = _FNV_OFFSET
    for byte in data:
        found = (found * _FNV_PRIME & 0xFFFFFFFF) ^ byte
    return found


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        # Go compares keys as bytes of UTF-8, which is the order of code points.
        return {key: _in_order(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_in_order(each) for each in value]
    if isinstance(value, int) and not isinstance(value, bool):
        # upstream: what a float64 cannot hold ends in zeros. Templates have no other numbers.
        return int(Decimal(repr(float(value))))
    return value
