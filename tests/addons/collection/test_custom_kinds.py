"""The kinds that plugins of the collection read, as an API server would serve them."""

from pathlib import Path
from typing import Any

import pytest

from podium.golang.documents import read_documents
from podium.kubernetes.crds import default_definition, validate_definition
from podium.kubernetes.kinds.typed_objects import KINDS, convert_object
from podium.scheduler.framework.events import WatchedKind, unique_kinds
from podium.user_code.plugins import find_plugin
from podium.user_code.shipped import SHIPPED_PLUGINS

ROOT = Path(__file__).parents[3]
WATCHED = unique_kinds(
    kind
    for name in sorted(SHIPPED_PLUGINS)
    if (plugin := find_plugin(name)) is not None
    for kind in plugin.watched_kinds
)
CUSTOM = [kind for kind in WATCHED if (kind.api_version, kind.kind) not in KINDS]


@pytest.mark.parametrize(
    "kind", [kind for kind in CUSTOM if kind.definition is not None], ids=lambda kind: kind.kind
)
def test_a_definition_is_one_that_an_api_server_accepts(kind: WatchedKind) -> None:
    assert kind.definition is not None
    written = kind.definition()
    default_definition(written)
    assert [str(error) for error in validate_definition(written)] == []
    spec: dict[str, Any] = written["spec"]
    assert (spec["group"], spec["names"]["plural"]) == (kind.group, kind.plural)
    assert (spec["scope"] == "Namespaced") is kind.namespaced


@pytest.mark.parametrize("kind", WATCHED, ids=lambda kind: kind.kind)
def test_a_kind_says_once_whether_it_has_namespaces(kind: WatchedKind) -> None:
    assert kind.struct.cluster_scoped is not kind.namespaced


def test_examples_are_read_strictly() -> None:
    structs = {(kind.api_version, kind.kind): kind.struct for kind in CUSTOM}
    read = set()
    for path in sorted((ROOT / "examples" / "scheduler-plugins").glob("*.yaml")):
        for document in read_documents(path.read_text(), str(path)):
            value = document.value
            assert isinstance(value, dict)
            key = (value["apiVersion"], value["kind"])
            if key in structs:
                convert_object(value, structs[key], strict=True)
                read.add(key)
    assert read <= set(structs)
    assert len(read) >= 5
