"""What holds for objects of every stored kind, the smallest ones and any others."""

from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.apiserver.schema_values import objects_of
from support.apiserver.smallest_objects import KINDS, covers_every_kind, smallest
from support.apiserver.written_objects import NOW, UID, VERSION, Object, Shelf, read

from podium.kubernetes import strategy, validation
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import schema_of

each_kind = pytest.mark.parametrize("resource", KINDS, ids=lambda each: each.group_resource)
any_kind = st.sampled_from(KINDS)
thorough = settings(max_examples=150, deadline=None)


def any_object(data: st.DataObject, resource: ApiResource) -> Object:
    schema = schema_of(resource.group, resource.version, resource.kind)
    obj = read(resource, data.draw(objects_of(schema)))
    obj["metadata"] = {
        "name": "a",
        "uid": UID,
        "creationTimestamp": NOW,
        "resourceVersion": VERSION,
        **({"namespace": "ns"} if resource.namespaced else {}),
    }
    strategy.prepare_create(resource, obj, NOW)
    return obj


def created(resource: ApiResource) -> tuple[Shelf, Object]:
    shelf = Shelf()
    shelf.add_namespace("ns")
    return shelf, shelf.create(resource, "ns" if resource.namespaced else "", smallest(resource))


def test_every_stored_kind_is_looked_at() -> None:
    assert covers_every_kind()


@each_kind
def test_the_smallest_object_of_a_kind_can_be_created(resource: ApiResource) -> None:
    created(resource)


@each_kind
def test_an_object_can_be_written_again_as_it_is_and_stays_so(resource: ApiResource) -> None:
    shelf, obj = created(resource)
    assert shelf.update(resource, "", obj, deepcopy(obj)) == obj
    if resource.has_status:
        assert shelf.update(resource, "status", obj, deepcopy(obj)) == obj


@each_kind
def test_an_object_with_labels_finalizers_and_owners_changed_is_accepted(
    resource: ApiResource,
) -> None:
    shelf, obj = created(resource)
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}
    change = {"labels": {"a": "b"}, "finalizers": ["example.com/f"], "ownerReferences": [owner]}
    new = shelf.patch(resource, "", obj, {"metadata": change})
    assert new["metadata"]["labels"]["a"] == "b"
    if resource.kind != "EndpointSlice":  # the labels of a slice count as its content
        assert new["metadata"].get("generation") == obj["metadata"].get("generation")


@each_kind
@pytest.mark.parametrize(
    ("metadata", "refused"),
    [
        ({"labels": {"a b": "c"}}, "metadata.labels"),
        ({"annotations": {"/": "c"}}, "metadata.annotations"),
        ({"ownerReferences": [{"name": "x"}]}, "metadata.ownerReferences.apiVersion"),
    ],
)
def test_metadata_of_every_kind_is_judged(
    resource: ApiResource, metadata: Object, refused: str
) -> None:
    _, obj = created(resource)
    errors = validation.validate_create(
        resource, {**obj, "metadata": {**obj["metadata"], **metadata}}
    )
    assert refused in {error.path for error in errors}


@given(resource=any_kind, data=st.data())
@thorough
def test_any_object_is_judged_without_failing_or_changing_it(
    resource: ApiResource, data: st.DataObject
) -> None:
    obj = any_object(data, resource)
    before = deepcopy(obj)
    errors = validation.validate_create(resource, obj)
    assert obj == before
    assert all(str(error).startswith(error.path) for error in errors)


@given(resource=any_kind, data=st.data())
@thorough
def test_any_update_is_judged_without_failing_or_changing_either_object(
    resource: ApiResource, data: st.DataObject
) -> None:
    old, new = any_object(data, resource), any_object(data, resource)
    before = deepcopy((old, new))
    errors = validation.validate_update(resource, new, old)
    if resource.has_status:
        errors += validation.validate_status_update(resource, new, old)
    assert (old, new) == before
    assert all(str(error).startswith(error.path) for error in errors)
