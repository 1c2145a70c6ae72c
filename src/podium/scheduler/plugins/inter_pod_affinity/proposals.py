"""Required pod affinity and anti-affinity: a wish in place of a demand, or the right key."""

from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from podium.golang.errors import closest
from podium.kubernetes.kinds.pod import Pod, PodAffinity, PodAffinityTerm, WeightedPodAffinityTerm
from podium.kubernetes.rules.labels import SelectorError, selector_of
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.situation import Situation
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.plugins.inter_pod_affinity.plugin import InterPodAffinity

WEIGHT = 100
"""Of a term that was a demand and becomes a wish: the strongest there is."""
Side = Literal["pod_affinity", "pod_anti_affinity"]
_WORDS: dict[Side, str] = {"pod_affinity": "affinity", "pod_anti_affinity": "anti-affinity"}


def propose_other_affinity(situation: Situation) -> Iterator[ProposedChange]:
    if not situation.nodes_near(InterPodAffinity.name):
        return
    for side, word in _WORDS.items():
        terms = _required(situation.pod, side)
        for at, term in enumerate(terms):
            yield from _propose_for_term(situation, side, at, term)
        if len(terms) > 1:
            yield situation.change_pod(
                f"relax-pod-{word}",
                f"prefer all {len(terms)} terms of the pod {word} in place of requiring them",
                disturbance.RELAX_AFFINITY + len(terms),
                _prefer(situation.pod, side, tuple(range(len(terms)))),
            )


def _propose_for_term(
    situation: Situation, side: Side, at: int, term: PodAffinityTerm
) -> Iterator[ProposedChange]:
    pod, word = situation.pod, _WORDS[side]
    keys = {key for node in situation.all_nodes() for key in node.metadata.labels or {}}
    alike = "" if term.topology_key in keys else closest(term.topology_key, sorted(keys))
    if alike:
        yield situation.change_pod(
            "correct-topology-key",
            f"ask for the pod {word} to {describe_term(term)} over {alike} in place of"
            f" {term.topology_key}, which no node has",
            disturbance.CORRECT_NAME,
            _with_terms(pod, side, at, replace(term, topology_key=alike)),
        )
    yield situation.change_pod(
        f"relax-pod-{word}",
        f"prefer the pod {word} to {describe_term(term)} over {term.topology_key} in place of"
        " requiring it",
        disturbance.RELAX_AFFINITY,
        _prefer(pod, side, (at,)),
    )


def describe_term(term: PodAffinityTerm) -> str:
    """The pods that a term means, by their labels."""
    try:
        selector = selector_of(term.label_selector)
    except SelectorError:
        return "pods that cannot be selected"
    if selector.nothing:
        return "no pod at all"
    told = ",".join(map(str, selector.requirements))
    return told or "all pods"


def _side(pod: Pod, side: Side) -> PodAffinity:
    affinity = pod.spec.affinity
    found: PodAffinity | None = getattr(affinity, side) if affinity is not None else None
    return found or PodAffinity()


def _required(pod: Pod, side: Side) -> tuple[PodAffinityTerm, ...]:
    return _side(pod, side).required_during_scheduling_ignored_during_execution or ()


def _with_terms(pod: Pod, side: Side, at: int, term: PodAffinityTerm) -> Pod:
    terms = list(_required(pod, side))
    terms[at] = term
    changed = replace(
        _side(pod, side), required_during_scheduling_ignored_during_execution=tuple(terms)
    )
    return _with_side(pod, side, changed)


def _prefer(pod: Pod, side: Side, places: tuple[int, ...]) -> Pod:
    terms, before = _required(pod, side), _side(pod, side)
    kept = tuple(term for at, term in enumerate(terms) if at not in places)
    wishes = tuple(
        WeightedPodAffinityTerm(weight=WEIGHT, pod_affinity_term=terms[at]) for at in places
    )
    changed = PodAffinity(
        required_during_scheduling_ignored_during_execution=kept or None,
        preferred_during_scheduling_ignored_during_execution=(
            *(before.preferred_during_scheduling_ignored_during_execution or ()),
            *wishes,
        ),
    )
    return _with_side(pod, side, changed)


def _with_side(pod: Pod, side: Side, changed: PodAffinity) -> Pod:
    affinity = pod.spec.affinity
    if affinity is None:
        return pod
    match side:
        case "pod_affinity":
            affinity = replace(affinity, pod_affinity=changed)
        case "pod_anti_affinity":
            affinity = replace(affinity, pod_anti_affinity=changed)
    return replace(pod, spec=replace(pod.spec, affinity=affinity))
