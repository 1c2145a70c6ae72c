"""Field selectors: which fields, and what is said of others."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.apiserver.api_calls import PODS, Api, pod

from podium.kubernetes.rules.selector_text import (
    FieldSelectorError,
    FieldTerm,
    parse_field_selector,
)


def names(api: Api, path: str) -> list[str]:
    return [item["metadata"]["name"] for item in api.get(path)["items"]]


def test_terms_are_equalities_and_inequalities() -> None:
    assert parse_field_selector("b!=2,a=1,c==3,") == (
        FieldTerm("a", True, "1"),
        FieldTerm("b", False, "2"),
        FieldTerm("c", True, "3"),
    )


def test_escaped_characters_belong_to_the_value() -> None:
    assert parse_field_selector(r"a=x\,y\=z\\") == (FieldTerm("a", True, "x,y=z\\"),)


@given(st.text(alphabet="a=!,\\.", max_size=15))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(FieldSelectorError):
        parse_field_selector(text)


def test_pods_are_selected_by_node_phase_and_name() -> None:
    api = Api()
    api.create_pod("a", nodeName="n1")
    api.create_pod("b")
    api.create_pod("c", restartPolicy="Never")

    assert names(api, f"{PODS}?fieldSelector=spec.nodeName%3Dn1") == ["a"]
    assert names(api, f"{PODS}?fieldSelector=spec.nodeName%3D") == ["b", "c"]
    assert names(api, f"{PODS}?fieldSelector=status.phase%3DPending,metadata.name!%3Da") == [
        "b",
        "c",
    ]
    assert names(api, f"{PODS}?fieldSelector=metadata.name%3Dc") == ["c"]
    assert names(api, f"{PODS}?fieldSelector=metadata.name%3Dnope") == []
    assert names(api, "/api/v1/pods?fieldSelector=metadata.namespace%3Ddefault") == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("path", "field", "text"),
    [
        (PODS, "spec.foo", "field label not supported: spec.foo"),
        (
            "/api/v1/namespaces/default/configmaps",
            "data.x",
            '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
    ],
)
def test_other_fields_are_refused(path: str, field: str, text: str) -> None:
    answer = Api().ask("GET", f"{path}?fieldSelector={field}%3Dx")

    assert (answer.status, answer.message) == (400, text)


def test_events_of_both_groups_are_selected_by_their_own_field_names() -> None:
    api = Api()
    event = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reason": "Why",
    }
    api.create("/api/v1/namespaces/default/events", event)

    older = "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dp"
    newer = "/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=regarding.name%3Dp"
    assert names(api, older) == ["e"]
    assert names(api, newer) == ["e"]
    assert api.ask("GET", newer.replace("regarding", "involvedObject")).status == 400
    api.create_pod("q", labels=None)
    assert names(api, f"{PODS}?labelSelector=none") == []


def test_labels_and_fields_must_both_match() -> None:
    api = Api()
    api.create(PODS, pod("a", labels={"app": "x"}, nodeName="n1"))
    api.create(PODS, pod("b", labels={"app": "x"}))

    query = "labelSelector=app%3Dx&fieldSelector=spec.nodeName%3Dn1"
    assert names(api, f"{PODS}?{query}") == ["a"]
