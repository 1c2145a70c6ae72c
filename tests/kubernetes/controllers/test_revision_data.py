"""Revisions byte for byte; the expected ones were written by Go."""

import pytest

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.revisions import (
    go_map_bytes,
    revision_data,
    revision_hash,
    revision_name,
)
from podium.kubernetes.controllers.workloads import PodTemplate


def test_keys_stand_in_order_at_every_depth() -> None:
    template = PodTemplate(
        metadata={"labels": {"b": "2", "a": "1"}},
        spec={"containers": [{"name": "c", "image": "i", "args": ["<x>&\u2028"]}]},
    )
    data = revision_data(template)
    assert go_map_bytes(data).decode() == (
        '{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"a":"1","b":"2"}},'
        '"spec":{"containers":[{"args":["\\u003cx\\u003e\\u0026\\u2028"],"image":"i","name":"c"}]}}}}'
    )
    assert list(data["spec"]["template"]["spec"]["containers"][0]) == ["args", "image", "name"]


CONTAINER: JsonObject = {
    "name": "c",
    "image": "a<b&c>",
    "resources": {},
    "securityContext": {"runAsUser": 9007199254740993},
}
CASES: list[tuple[JsonObject, str]] = [
    ({"spec": {"template": {"$patch": "replace"}}}, "589f85db5b"),
    (
        revision_data(
            PodTemplate(
                metadata={"labels": {"app": "db"}},
                spec={"restartPolicy": "Always", "containers": [CONTAINER]},
            )
        ),
        "f98d7c98c",
    ),
]


@pytest.mark.parametrize(("data", "expected"), CASES)
def test_hashes_are_those_of_the_reference(data: JsonObject, expected: str) -> None:
    assert revision_hash(data) == expected


def test_long_names_leave_room_for_the_hash() -> None:
    assert revision_name("x" * 300, "abc") == "x" * 223 + "-abc"
