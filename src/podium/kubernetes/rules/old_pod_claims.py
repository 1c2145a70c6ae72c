"""Claims of pods as Kubernetes 1.26 to 1.30 wrote them: with a `source` around the name.

    resourceClaims:                          resourceClaims:
    - name: gpu                              - name: gpu
      source:                                  resourceClaimName: my-gpu
        resourceClaimName: my-gpu

1.36 does not know the field any more. It says the same, so it is taken for the form of today.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from podium.golang.json_values import JsonObject, JsonValue

_NAMES: Final = frozenset({"resourceClaimName", "resourceClaimTemplateName"})
_SOURCE: Final = "source"
_SPECS: Final = (
    ("spec",),
    ("template", "spec"),
    ("spec", "template", "spec"),
    ("spec", "jobTemplate", "spec", "template", "spec"),
)
"""Where objects of all kinds have the spec of a pod."""


class OldForm(NamedTuple):
    """Where something was not written as today, what it is, and what to write."""

    path: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}; {self.remedy}"


def pod_specs(obj: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """The specs of pods in an object, with their paths. A spec may be one of something else."""
    for steps in _SPECS:
        found: JsonValue = obj
        for step in steps:
            found = found.get(step) if isinstance(found, dict) else None
        if isinstance(found, dict):
            yield ".".join(steps), found


def unwrap_claim_sources(obj: JsonObject) -> list[OldForm]:
    """Write the claims of an object's pods as today, in place; tells where that was needed."""
    found: list[OldForm] = []
    for path, spec in pod_specs(obj):
        claims = spec.get("resourceClaims")
        for index, claim in enumerate(claims if isinstance(claims, list) else ()):
            if not isinstance(claim, dict) or not _is_wrapped(claim):
                continue
            claim |= claim.pop(_SOURCE)
            at = f"{path}.resourceClaims[{index}].{_SOURCE}"
            names = " and ".join(sorted(_NAMES & claim.keys())) or "the claim's name"
            remedy = f"write {names} without it"
            found.append(OldForm(at, "is the form of Kubernetes 1.26 to 1.30", remedy))
    return found


def _is_wrapped(claim: JsonObject) -> bool:
    source = claim.get(_SOURCE)
    return isinstance(source, dict) and source.keys() <= _NAMES and not _NAMES & claim.keys()
