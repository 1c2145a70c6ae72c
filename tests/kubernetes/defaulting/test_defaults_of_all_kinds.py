"""What holds for the defaults of every kind."""

from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.apiserver.schema_values import objects_of
from support.apiserver.smallest_objects import KINDS, smallest
from support.apiserver.written_objects import Object, read

from podium.kubernetes.defaulting import set_defaults
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import decode, schema_of


def test_custom_resources_have_no_defaults_here() -> None:
    custom = ApiResource("g", "v1", "Widget", "widgets", "widget", True, is_custom=True)
    obj: Object = {"spec": {"template": {}}}
    set_defaults(custom, obj)
    assert obj == {"spec": {"template": {}}}


@pytest.mark.parametrize("resource", KINDS, ids=lambda each: each.group_resource)
def test_an_object_with_defaults_is_what_the_decoder_would_have_made_of_it(
    resource: ApiResource,
) -> None:
    obj = read(resource, smallest(resource))
    schema = schema_of(resource.group, resource.version, resource.kind)
    assert decode(obj, schema).value == obj


@given(resource=st.sampled_from(KINDS), data=st.data())
@settings(max_examples=200, deadline=None)
def test_setting_defaults_twice_changes_nothing(resource: ApiResource, data: st.DataObject) -> None:
    schema = schema_of(resource.group, resource.version, resource.kind)
    obj = read(resource, data.draw(objects_of(schema)))
    once = deepcopy(obj)
    set_defaults(resource, obj)
    assert obj == once


def everything_written_is_kept(written: object, kept: object) -> bool:
    match written, kept:
        case dict(), dict():
            return all(
                everything_written_is_kept(value, kept.get(key)) for key, value in written.items()
            )
        case list(), list():
            return len(written) == len(kept) and all(map(everything_written_is_kept, written, kept))
    return written in (kept, "", 0, None)


@given(data=st.data(), kind=st.sampled_from(["Pod", "PersistentVolume"]))
@settings(max_examples=150, deadline=None)
def test_fields_with_a_value_keep_it(data: st.DataObject, kind: str) -> None:
    schema = schema_of("", "v1", kind)
    resource = next(each for each in KINDS if each.kind == kind)
    decoded = decode(data.draw(objects_of(schema, "metadata", "spec")), schema).value
    written = deepcopy(decoded)
    written.get("spec", {}).pop("serviceAccount", None)  # follows serviceAccountName
    set_defaults(resource, decoded)
    assert everything_written_is_kept(written, decoded)
