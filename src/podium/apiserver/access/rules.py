"""Policy rules: what one grants, and whether some cover others.

A rule is as a role writes it: verbs on resources of groups, perhaps by name, or verbs on paths.
Covering takes a rule apart into rules of one verb, resource and name each: any of these is granted
by one rule of the other side or by none.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Final, NamedTuple

from podium.apiserver.access.attempts import Attempt
from podium.golang.json_values import JsonObject
from podium.golang.quoting import quoted_list

Rules = Sequence[JsonObject]

MAX_PARTS: Final = 10_000
"""Into so many parts a role is taken apart; what is beyond counts as not covered."""
_FIELDS: Final = {
    "apiGroups": "APIGroups",
    "resources": "Resources",
    "nonResourceURLs": "NonResourceURLs",
    "resourceNames": "ResourceNames",
    "verbs": "Verbs",
}


class Part(NamedTuple):
    """A rule of one verb and one resource or path."""

    verb: str
    group: str = ""
    resource: str = ""
    name: str | None = None
    """None: whatever the name, which is more than an empty one."""
    path: str | None = None


def grants(rule: JsonObject, attempt: Attempt) -> bool:
    """Whether a rule allows an attempt."""
    wanted = Part(attempt.verb, attempt.group, attempt.full_resource, attempt.name, attempt.path)
    return _covers(rule, wanted)


def _has(rule: JsonObject, field: str, wanted: str) -> bool:
    found = rule.get(field) or ()
    return wanted in found or "*" in found


def _has_resource(rule: JsonObject, resource: str) -> bool:
    """`resource` may have a part, such as `pods/status`; a rule may mean that of all resources."""
    if _has(rule, "resources", resource):
        return True
    _, slash, part = resource.partition("/")
    return bool(slash) and f"*/{part}" in (rule.get("resources") or ())


def _grants_path(rule: JsonObject, path: str) -> bool:
    return any(
        url == path or (url.endswith("*") and path.startswith(url.rstrip("*")))
        for url in rule.get("nonResourceURLs") or ()
    )


def missing(held: Rules, wanted: Rules) -> list[JsonObject]:
    """What of the wanted rules the held ones do not cover, verbs of a resource together."""
    parts_left = MAX_PARTS
    uncovered: list[JsonObject] = []
    for rule in wanted:
        if any(_covers_whole(each, rule) for each in held):
            continue
        parts_left -= _part_count(rule)
        if parts_left < 0:
            uncovered.append(rule)
            continue
        uncovered += [
            _as_rule(part) for part in _parts(rule) if not any(_covers(each, part) for each in held)
        ]
    return _compacted(uncovered)


def _covers_whole(held: JsonObject, wanted: JsonObject) -> bool:
    """Whether one rule is wide enough for all of another, without taking it apart."""
    if held.get("resourceNames") or wanted.get("nonResourceURLs"):
        return False
    return all(_has_all(held, wanted, field) for field in ("verbs", "apiGroups", "resources"))


def _has_all(held: JsonObject, wanted: JsonObject, field: str) -> bool:
    found = held.get(field) or ()
    return "*" in found or set(wanted.get(field) or ()) <= set(found)


def _part_count(rule: JsonObject) -> int:
    fields = ("verbs", "apiGroups", "resources")
    by_name = prod(len(rule.get(field) or ()) for field in fields)
    paths = len(rule.get("verbs") or ()) * len(rule.get("nonResourceURLs") or ())
    return by_name * max(1, len(rule.get("resourceNames") or ())) + paths


def _parts(rule: JsonObject) -> Iterator[Part]:
    groups, resources = rule.get("apiGroups") or (), rule.get("resources") or ()
    verbs, names = rule.get("verbs") or (), rule.get("resourceNames") or (None,)
    for group, resource, verb, name in product(groups, resources, verbs, names):
        yield Part(verb, group, resource, name)
    for path, verb in product(rule.get("nonResourceURLs") or (), verbs):
        yield Part(verb, path=path)


def _covers(held: JsonObject, part: Part) -> bool:
    if not _has(held, "verbs", part.verb):
        return False
    if part.path is not None:
        return _grants_path(held, part.path)
    if not _has(held, "apiGroups", part.group) or not _has_resource(held, part.resource):
        return False
    names = held.get("resourceNames")
    return not names or part.name in names


def _as_rule(part: Part) -> JsonObject:
    if part.path is not None:
        return {"nonResourceURLs": [part.path], "verbs": [part.verb]}
    rule: JsonObject = {"apiGroups": [part.group], "resources": [part.resource]}
    if part.name is not None:
        rule["resourceNames"] = [part.name]
    return {**rule, "verbs": [part.verb]}


def _compacted(parts: list[JsonObject]) -> list[JsonObject]:
    """The same rules, with the verbs of one resource and name in one rule."""
    whole: list[JsonObject] = []
    simple: dict[tuple[str, str, str | None], JsonObject] = {}
    for rule in parts:
        fields = ("apiGroups", "resources", "resourceNames")
        groups, resources, names = (list(rule.get(field) or ()) for field in fields)
        if len(groups) != 1 or len(resources) != 1 or len(names) > 1:
            whole.append(rule)
            continue
        key = (groups[0], resources[0], names[0] if names else None)
        known = simple.get(key)
        if known is None:
            simple[key] = {**rule, "verbs": list(rule["verbs"])}
        else:
            known["verbs"] += rule["verbs"]
    return [*whole, *simple.values()]


def described(rule: JsonObject) -> str:
    """A rule in one line: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`."""
    shown = (f"{go}:{quoted_list(rule[name])}" for name, go in _FIELDS.items() if rule.get(name))
    return f"{{{', '.join(shown)}}}"
