"""What the writers of pods and of workloads that make them should know of.

A workload's template is looked at when it is created and when it has changed, which its generation
tells.
"""

from collections.abc import Callable, Iterator
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Path, Warnings
from podium.kubernetes.validation.names import label_problems

_SURPRISING: Final = "which can result in surprising behavior; a DNS label is recommended"
_TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"

_TEMPLATE: Final = ("spec", "template")


def _generation(obj: JsonObject) -> object:
    return obj["metadata"].get("generation")


def template_generation(daemon_set: JsonObject) -> object:
    """What changes with the template of a daemon set."""
    return (daemon_set["metadata"].get("annotations") or {}).get(_TEMPLATE_GENERATION)


def about_created_pod(pod: JsonObject) -> Iterator[str]:
    from podium.kubernetes.warnings.pods import about_pod

    yield from _about_name(pod, "the Pod's hostname")
    yield from about_pod(pod["spec"], pod["metadata"])


def about_workload(
    template: Path = _TEMPLATE,
    *,
    names_pods: bool = False,
    version_of: Callable[[JsonObject], object] = _generation,
    orphans: str = "",
) -> Warnings:
    """Of a kind with a pod template; its pods may have names that start with its own."""

    def create(workload: JsonObject) -> Iterator[str]:
        if names_pods:
            yield from _about_name(workload, "Pod names and hostnames")
        yield from _about_template(workload, template)

    def update(new: JsonObject, old: JsonObject) -> Iterator[str]:
        if version_of(new) != version_of(old):
            yield from _about_template(new, template)

    return Warnings(create=create, update=update, orphans=orphans)


def about_created_stateful_set(stateful_set: JsonObject) -> Iterator[str]:
    yield from _about_template(stateful_set, _TEMPLATE)
    yield from _about_stateful_set(stateful_set, "")


def about_changed_stateful_set(new: JsonObject, old: JsonObject) -> Iterator[str]:
    if _generation(new) != _generation(old):
        yield from _about_template(new, _TEMPLATE)
    yield from _about_stateful_set(new, ".Spec")


def _about_name(obj: JsonObject, use: str) -> Iterator[str]:
    problems = label_problems(obj["metadata"].get("name") or "")
    if problems:
        yield f"metadata.name: this is used in {use}, {_SURPRISING}: [{' '.join(problems)}]"


def _about_template(obj: JsonObject, path: Path) -> Iterator[str]:
    from podium.kubernetes.warnings.pods import about_pod

    template = obj
    for name in path:
        template = template.get(name) or {}
    at = ".".join(path)
    return about_pod(template.get("spec") or {}, template.get("metadata") or {}, f"{at}.")


def _about_stateful_set(stateful_set: JsonObject, suffix: str) -> Iterator[str]:
    from podium.kubernetes.warnings.pods import about_claim_spec

    spec: JsonObject = stateful_set.get("spec") or {}
    for number, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        at = f"spec.volumeClaimTemplates[{number}]{suffix}"
        yield from about_claim_spec(claim.get("spec") or {}, at)
    if (spec.get("revisionHistoryLimit") or 0) < 0:
        yield (
            "spec.revisionHistoryLimit: a negative value retains all historical revisions;"
            " a value >= 0 is recommended"
        )
