"""Pages of lists, decoded as a whole or item by item."""

import json
from typing import Any

import pytest

from podium.golang.errors import ObjectError
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import decode_list_items, decode_list_meta


def page(*items: Any, **metadata: Any) -> bytes:
    return json.dumps({"metadata": metadata, "items": list(items)}).encode()


def test_metadata_are_read_apart_from_items() -> None:
    found = decode_list_meta(page(5, resourceVersion="7", **{"continue": "abc"}))
    assert (found.resource_version, found.continue_) == ("7", "abc")


def test_items_become_typed_objects() -> None:
    items, problems = decode_list_items(page({"metadata": {"name": "a"}}), Pod)
    assert ([pod.name for pod in items], problems) == (["a"], [])


def test_an_item_that_cannot_be_read_does_not_stop_the_others() -> None:
    amount = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "much"}}}]}
    broken = {"metadata": {"name": "b", "namespace": "ns"}, "spec": amount}
    items, problems = decode_list_items(
        page({"metadata": {"name": "a"}}, broken, {"metadata": {}}, {"metadata": {"name": "c"}}),
        Pod,
    )
    assert [pod.name for pod in items] == ["a", "c"]
    assert problems[0].startswith("ns/b: ")
    assert len(problems) == 2


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"metadata": 5}'])
def test_what_is_no_list_is_refused(body: bytes) -> None:
    with pytest.raises(ObjectError, match="is no list"):
        decode_list_meta(body)
