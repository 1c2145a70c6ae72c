"""Cluster roles that gather the rules of others by label.

Upstream has a controller for it; here every write of a cluster role that is gathered or gathers
brings those up to date. What somebody else wrote as the rules of such a role does not last.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from podium.apiserver.managed_fields import Writer, apply
from podium.golang.json_values import JsonObject, encode
from podium.kubernetes.rules.field_errors import FieldError
from podium.kubernetes.rules.labels import Selector, object_selector

if TYPE_CHECKING:
    from podium.apiserver.requests.registry import Registry

_MANAGER: Final = "clusterrole-aggregation-controller"


class RoleAggregation:
    """Keeps the rules of aggregated cluster roles."""

    def __init__(self, registry: "Registry") -> None:
        self._registry = registry
        self._resource = registry.table.get_required("clusterroles", "rbac.authorization.k8s.io")
        self._gathering: dict[str, list[Selector]] = {}
        self._labels: dict[str, Mapping[str, str]] = {}
        """Of every role that has any."""
        self._at_work = False
        for version in registry.collection(self._resource).current():
            self._note(registry.read(self._resource, version))

    def settle(self, obj: JsonObject, now: str, *, dry_run: bool) -> list[FieldError]:
        """Nothing: a role is stored as it was written, and gathered afterwards."""
        del obj, now, dry_run
        return []

    def after_write(self, obj: JsonObject) -> None:
        if self._at_work:
            return
        before = self._labels.get(obj["metadata"]["name"])
        self._note(obj)
        if self._concerns(obj, before):
            self._gather_all()

    def after_delete(self, obj: JsonObject) -> None:
        name = obj["metadata"]["name"]
        before = self._labels.pop(name, None)
        self._gathering.pop(name, None)
        if self._concerns(obj, before):
            self._gather_all()

    def _note(self, role: JsonObject) -> None:
        name, labels = role["metadata"]["name"], role["metadata"].get("labels")
        self._labels.pop(name, None)
        if labels:
            self._labels[name] = labels
        written = (role.get("aggregationRule") or {}).get("clusterRoleSelectors")
        self._gathering.pop(name, None)
        if written:
            self._gathering[name] = [object_selector(each) for each in written]

    def _concerns(self, role: JsonObject, labels_before: Mapping[str, str] | None) -> bool:
        if role["metadata"]["name"] in self._gathering:
            return True
        labels = role["metadata"].get("labels") or {}
        return any(
            selector.matches(labels) or selector.matches(labels_before or {})
            for selectors in self._gathering.values()
            for selector in selectors
        )

    def _gather_all(self) -> None:
        """Gather until nothing changes: a role may gather one that gathers.

        No chain is longer than there are roles that gather; those that gather each other in a
        circle hold on to what they have.
        """
        self._at_work = True
        read: dict[str, JsonObject] = {}
        try:
            for _ in self._gathering:
                changed = [self._gather(name, read) for name in sorted(self._gathering)]
                if not any(changed):
                    return
        finally:
            self._at_work = False

    def _gather(self, name: str, read: dict[str, JsonObject]) -> bool:
        """Bring one role up to date; whether it was not."""
        role = self._role(name, read)
        rules = self._gather_rules(name, read)
        if rules == (role.get("rules") or []):
            return False
        registry = self._registry
        config = {
            "apiVersion": self._resource.api_version,
            "kind": self._resource.kind,
            "metadata": {"name": name},
            "rules": rules,
        }
        own = registry.rules(self._resource)
        merged = apply(role, config, own.schema, Writer(_MANAGER, registry.now(), ""), force=True)
        read[name] = {**own.decode(merged).value, "rules": rules}
        before = registry.get(self._resource, "", name)
        registry.replace(self._resource, before, read[name], dry_run=False)
        return True

    def _gather_rules(self, name: str, read: dict[str, JsonObject]) -> list[JsonObject]:
        """The rules of all roles that a role selects, each once."""
        rules: dict[bytes, JsonObject] = {}
        # Few roles differ in their labels, and one that was selected need not be again.
        left: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for each in self._registry.collection(self._resource).current():
            if each.name != name:
                left.setdefault(tuple(sorted(each.labels.items())), []).append(each.name)
        for selector in self._gathering[name]:
            matching = [labels for labels in left if selector.matches(dict(labels))]
            for other in sorted(other for labels in matching for other in left.pop(labels)):
                for rule in self._role(other, read).get("rules") or ():
                    rules.setdefault(encode(rule), rule)
            if not left:
                break
        return list(rules.values())

    def _role(self, name: str, read: dict[str, JsonObject]) -> JsonObject:
        if name not in read:
            version = self._registry.get(self._resource, "", name)
            read[name] = self._registry.read(self._resource, version)
        return read[name]
