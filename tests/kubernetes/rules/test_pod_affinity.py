"""Pod affinity terms: which pods they mean, and what survives a bad one."""

from podium.kubernetes.kinds.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from podium.kubernetes.kinds.pod import (
    Affinity,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    WeightedPodAffinityTerm,
)
from podium.kubernetes.rules.labels import EVERYTHING, NOTHING, selector_of_map
from podium.kubernetes.rules.pod_affinity import AffinityTerm, PodAffinityTerms, parse_pod_affinity

WEB = LabelSelector(match_labels={"app": "web"})
BROKEN = LabelSelector(match_expressions=(LabelSelectorRequirement(key="a", operator="Is"),))


def pod(affinity: PodAffinity | None = None, anti: PodAffinity | None = None) -> Pod:
    return Pod(
        metadata=ObjectMeta(name="p", namespace="home"),
        spec=PodSpec(affinity=Affinity(pod_affinity=affinity, pod_anti_affinity=anti)),
    )


def required(*terms: PodAffinityTerm) -> PodAffinity:
    return PodAffinity(required_during_scheduling_ignored_during_execution=terms)


def preferred(*terms: tuple[int, PodAffinityTerm]) -> PodAffinity:
    return PodAffinity(
        preferred_during_scheduling_ignored_during_execution=tuple(
            WeightedPodAffinityTerm(weight=weight, pod_affinity_term=term) for weight, term in terms
        )
    )


def only(term: PodAffinityTerm) -> AffinityTerm:
    (compiled,) = parse_pod_affinity(pod(required(term))).required_affinity
    return compiled


def test_without_namespaces_and_selector_a_term_means_its_own_namespace() -> None:
    term = only(PodAffinityTerm(label_selector=WEB, topology_key="zone"))
    assert term == (frozenset({"home"}), selector_of_map({"app": "web"}), NOTHING, "zone")
    assert term.matches("home", {"app": "web"}, {})
    assert not term.matches("away", {"app": "web"}, {})
    assert not term.matches("home", {"app": "db"}, {})


def test_listed_namespaces_replace_the_own_one() -> None:
    term = only(PodAffinityTerm(label_selector=WEB, namespaces=("away",)))
    assert term.matches("away", {"app": "web"}, None)
    assert not term.matches("home", {"app": "web"}, None)


def test_a_namespace_selector_adds_namespaces_by_label() -> None:
    team = LabelSelector(match_labels={"team": "a"})
    term = only(PodAffinityTerm(label_selector=WEB, namespace_selector=team))
    assert term.namespaces == frozenset()
    assert term.matches("away", {"app": "web"}, {"team": "a"})
    assert not term.matches("home", {"app": "web"}, {})
    both = only(PodAffinityTerm(label_selector=WEB, namespaces=("x",), namespace_selector=team))
    assert both.matches("x", {"app": "web"}, {})
    assert both.matches("away", {"app": "web"}, {"team": "a"})


def test_an_empty_namespace_selector_means_all_namespaces() -> None:
    term = only(PodAffinityTerm(label_selector=WEB, namespace_selector=LabelSelector()))
    assert term.namespace_selector == EVERYTHING
    assert term.matches("anywhere", {"app": "web"}, None)


def test_a_term_without_label_selector_means_no_pod() -> None:
    term = only(PodAffinityTerm(topology_key="zone"))
    assert not term.matches("home", {}, {})


def test_match_label_keys_are_not_read_here() -> None:
    plain = only(PodAffinityTerm(label_selector=WEB))
    keyed = only(
        PodAffinityTerm(
            label_selector=WEB, match_label_keys=("hash",), mismatch_label_keys=("tenant",)
        )
    )
    assert plain == keyed
    assert hash(plain) == hash(keyed)


def test_groups_and_weights_are_kept_apart() -> None:
    term = PodAffinityTerm(label_selector=WEB, topology_key="zone")
    compiled = only(term)
    terms = parse_pod_affinity(pod(preferred((5, term), (0, term)), required(term)))
    assert terms == PodAffinityTerms(
        required_anti=(compiled,),
        preferred_affinity=((5, compiled), (0, compiled)),
        has_affinity=True,
    )


def test_presence_of_either_object_is_told_even_when_empty() -> None:
    assert parse_pod_affinity(pod(PodAffinity())).has_affinity
    assert parse_pod_affinity(pod(anti=PodAffinity())).has_affinity
    assert not parse_pod_affinity(pod()).has_affinity
    assert parse_pod_affinity(Pod()) == PodAffinityTerms()


def test_a_bad_term_empties_its_group_only() -> None:
    good = PodAffinityTerm(label_selector=WEB, topology_key="zone")
    bad = PodAffinityTerm(label_selector=BROKEN, topology_key="zone")
    terms = parse_pod_affinity(pod(required(good, bad), preferred((1, good))))
    assert terms.required_affinity == ()
    assert terms.preferred_anti == ((1, only(good)),)
    assert terms.error == 'requiredAffinityTerms: "Is" is not a valid label selector operator'
    assert terms.has_affinity


def test_errors_of_several_groups_are_told_together() -> None:
    bad = PodAffinityTerm(namespace_selector=BROKEN)
    terms = parse_pod_affinity(pod(preferred((1, bad)), required(bad)))
    operator = '"Is" is not a valid label selector operator'
    assert terms.error == (
        f"[requiredAntiAffinityTerms: {operator}, preferredAffinityTerms: {operator}]"
    )
