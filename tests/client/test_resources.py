"""The resources that a client knows without discovery."""

import pytest

from podium.client import ResourceType, resources
from podium.kubernetes.kinds.catalogue import CUSTOM, find_kind

KNOWN = [each for each in vars(resources).values() if isinstance(each, ResourceType)]


@pytest.mark.parametrize("known", KNOWN, ids=lambda each: f"{each.plural} {each.api_version}")
def test_a_known_resource_is_named_as_the_kinds_record_says(known: ResourceType) -> None:
    record = find_kind(known.group, known.kind)
    if record is CUSTOM:
        assert known.group == "scheduling.x-k8s.io"
    else:
        assert (record.version, record.plural) == (known.version, known.plural)
        assert record.namespaced is known.namespaced
