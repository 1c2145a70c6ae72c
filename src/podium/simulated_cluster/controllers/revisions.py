"""The history of templates that stateful sets and daemon sets keep as ControllerRevisions.

`kubectl rollout history` and `undo` read them, and a stateful set that is rolled out in part needs
the template it came from. A template that comes back gets its old revision with a new number.
"""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from podium.api.json_values import JsonObject
from podium.api.meta import ObjectMeta
from podium.client.resources import CONTROLLER_REVISIONS
from podium.simulated_cluster.actions import Action, Create, Patch, delete
from podium.workloads.kinds import ControllerRevision, PodTemplate
from podium.workloads.objects import Kind, owner_reference
from podium.workloads.pod_templates import REVISION_HASH, canonical, template_hash

_HISTORY: Final = 10


class Revision(NamedTuple):
    """The revision of the present template, and the writes that record it."""

    name: str
    hash: str
    actions: list[Action]


def settle_revisions(
    kind: Kind,
    owner: ObjectMeta,
    template: PodTemplate,
    known: Sequence[ControllerRevision],
    *,
    labelled_by_name: bool,
    in_use: Collection[str],
    limit: int | None,
) -> Revision:
    """`in_use` are labels of pods that still run; their revisions are kept."""
    data = _data(template)
    wanted = canonical(data)
    present = next((each for each in known if canonical(each.data or {}) == wanted), None)
    highest = max((each.revision for each in known), default=0)
    actions: list[Action] = []
    if present is None:
        mark = template_hash(template)
        name = f"{owner.name}-{mark}"
        label = name if labelled_by_name else mark
        body = _revision(kind, owner, template, name, label, highest + 1, data)
        actions.append(Create(CONTROLLER_REVISIONS, owner.namespace, body))
    else:
        name = present.name
        mark = name.removeprefix(f"{owner.name}-")
        if present.revision < highest:
            number = {"revision": highest + 1}
            actions.append(Patch(CONTROLLER_REVISIONS, owner.namespace, name, number))
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


def _data(template: PodTemplate) -> JsonObject:
    kept = {"metadata": template.metadata, "spec": template.spec, "$patch": "replace"}
    return {"spec": {"template": kept}}


def _revision(
    kind: Kind,
    owner: ObjectMeta,
    template: PodTemplate,
    name: str,
    label: str,
    number: int,
    data: JsonObject,
) -> JsonObject:
    labels = {**(template.metadata.get("labels") or {}), REVISION_HASH: label}
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": name,
            "labels": labels,
            "ownerReferences": [owner_reference(kind, owner)],
        },
        "data": data,
        "revision": number,
    }
