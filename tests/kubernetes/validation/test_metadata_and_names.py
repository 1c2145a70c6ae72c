"""Names, labels, annotations, owners and finalizers of all objects."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.apiserver.smallest_objects import problems_of, refusal_of
from support.apiserver.written_objects import Object

from podium.kubernetes.validation.names import (
    label_problems,
    path_segment_problems,
    percent_problems,
    port_name_problems,
    subdomain_problems,
)

OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character"
)


@pytest.mark.parametrize(
    ("metadata", "problems"),
    [
        ({"name": ""}, ["metadata.name: Required value: name or generateName is required"]),
        ({"name": "A"}, [f'metadata.name: Invalid value: "A": {SUBDOMAIN}']),
        (
            {"name": "a" * 254},
            [f'metadata.name: Invalid value: "{"a" * 254}": must be no more than 253 characters'],
        ),
        (
            {"finalizers": ["plain"]},
            [
                'metadata.finalizers[0]: Invalid value: "plain": name is neither a standard'
                " finalizer name nor is it fully qualified"
            ],
        ),
        (
            {"ownerReferences": [{**OWNER, "uid": ""}]},
            ['metadata.ownerReferences.uid: Invalid value: "": must not be empty'],
        ),
        (
            {"ownerReferences": [{**OWNER, "kind": "Event"}]},
            [
                'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event",'
                '"name":"n","uid":"u"}: /v1, Kind=Event is disallowed from being an owner'
            ],
        ),
        (
            {"labels": {"a": "b" * 64}},
            [f'metadata.labels: Invalid value: "{"b" * 64}": must be no more than 63 bytes'],
        ),
        (
            {"annotations": {"a": "x" * (256 * 1024)}},
            ["metadata.annotations: Too long: may not be more than 262144 bytes"],
        ),
        ({"annotations": {"Mixed.Case/Name": "any text at all\n"}}, []),
    ],
)
def test_metadata_is_well_formed(metadata: Object, problems: list[str]) -> None:
    assert problems_of("ConfigMap", metadata=metadata) == problems


def test_only_one_owner_is_the_controller() -> None:
    owners = [{**OWNER, "name": name, "controller": True} for name in "ab"]
    (problem,) = problems_of("ConfigMap", metadata={"ownerReferences": owners})
    assert problem.endswith(
        'Only one reference can have Controller set to true. Found "true" in references for'
        " Node/a and Node/b"
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"name": "b"}, 'metadata.name: Invalid value: "b": field is immutable'),
        ({"uid": "b"}, 'metadata.uid: Invalid value: "b": field is immutable'),
        ({"namespace": "b"}, 'metadata.namespace: Invalid value: "b": field is immutable'),
        ({"labels": {"a": "b"}, "annotations": {"a": "b"}}, ""),
    ],
)
def test_identity_does_not_change(change: Object, told: str) -> None:
    assert refusal_of("ConfigMap", "", {"metadata": change}) == told


@given(st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True))
def test_labels_of_domains_are_fine_in_every_place(name: str) -> None:
    assert label_problems(name) == subdomain_problems(name) == path_segment_problems(name) == []


@given(st.text(max_size=70))
def test_a_name_is_fine_as_a_label_only_if_it_is_as_a_subdomain(name: str) -> None:
    if not label_problems(name):
        assert subdomain_problems(name) == []
        assert "." not in name


@pytest.mark.parametrize("name", [".", "..", "a/b", "a%b"])
def test_names_can_stand_in_paths(name: str) -> None:
    assert path_segment_problems(name)


@given(st.integers(0, 10**6))
def test_numbers_with_a_percent_sign_are_percentages(number: int) -> None:
    assert percent_problems(f"{number}%") == []
    assert percent_problems(str(number)) != []


@pytest.mark.parametrize(
    ("name", "count"), [("http", 0), ("a1-b", 0), ("1", 1), ("x" * 16, 1), ("-a", 1), ("a--b", 1)]
)
def test_names_of_ports_are_short_words(name: str, count: int) -> None:
    found: list[Any] = port_name_problems(name)
    assert len(found) == count
