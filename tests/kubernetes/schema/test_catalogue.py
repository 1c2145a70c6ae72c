"""The data of all kinds: complete for what is served, and readable."""

import pytest

from podium.golang.shapes import (
    Form,
    ListOf,
    MapOf,
    Omitted,
    Scalar,
    Struct,
    go_name,
)
from podium.kubernetes.releases.entries import FieldEntry, TypeEntry
from podium.kubernetes.resources.table import builtin_resources
from podium.kubernetes.schema import schema_of
from podium.kubernetes.schema.catalogue import ReleaseTypes, built_in_types

TYPES = {
    "core": {
        "Colour": TypeEntry(type="string"),
        "Shape": TypeEntry(type="string", enum=("Round", "Square")),
        "Amounts": TypeEntry(type="map[Colour]Quantity"),
        "Fruit": TypeEntry(
            (
                FieldEntry("TypeMeta", inline=True),
                FieldEntry("metadata", "Meta"),
                FieldEntry(
                    "seeds",
                    "[]Seed",
                    required=True,
                    omit="never",
                    list_type="map",
                    list_map_keys=("id", "kind"),
                    patch_strategy="merge",
                    patch_merge_key="id",
                ),
                FieldEntry("peel", "*Peel", omit="never"),
                FieldEntry("names", "[]string", list_type="set", patch_strategy="merge"),
                FieldEntry("notes", "[]string"),
                FieldEntry("taste", "Colour", required=True),
                FieldEntry("amounts", "Amounts"),
                FieldEntry("labels", "map[string]string", map_type="atomic"),
            )
        ),
        "Seed": TypeEntry(
            (
                FieldEntry("id", "string", required=True, omit="never"),
                FieldEntry("kind", "Shape", default="Round"),
                FieldEntry("since", "Time", omit="zero"),
                FieldEntry("other", "*Fruit"),
            )
        ),
        "Peel": TypeEntry(
            (FieldEntry("thick", "bool"), FieldEntry("weight", "int32")), struct_type="atomic"
        ),
        "Pip": TypeEntry(
            (
                FieldEntry("Peel", "Peel", inline=True),
                FieldEntry("peel", "*Peel", struct_type="granular"),
            )
        ),
    },
    "meta": {"Meta": TypeEntry((FieldEntry("name", "string"),))},
}


def test_every_served_kind_has_a_schema() -> None:
    for resource in builtin_resources():
        schema = schema_of(resource.group, resource.version, resource.kind)
        assert schema.api_version == resource.api_version
        assert {"kind", "apiVersion"} <= set(schema.root.fields)


@pytest.mark.parametrize(
    ("group", "version", "kind"),
    [("", "v2", "Pod"), ("", "v1", "PodSpec"), ("", "v1", "Gizmo"), ("no.group", "v1", "Pod")],
)
def test_what_is_no_kind_has_none(group: str, version: str, kind: str) -> None:
    with pytest.raises(KeyError):
        schema_of(group, version, kind)


def test_there_is_one_schema_of_each_kind() -> None:
    assert schema_of("", "v1", "Pod") is schema_of("", "v1", "Pod")


def test_keys_and_merge_keys_are_fields_of_the_items() -> None:
    for struct in built_in_types().structs():
        for field in struct.fields.values():
            shape = field.shape
            if isinstance(shape, ListOf) and (shape.keys or field.merge_key):
                assert isinstance(shape.item, Struct)
                assert {*shape.keys, field.merge_key or shape.keys[0]} <= set(shape.item.fields)


def test_entries_say_how_lists_are_keyed_and_merged() -> None:
    fruit = ReleaseTypes(TYPES).struct("core", "Fruit")
    seeds, names = fruit.fields["seeds"], fruit.fields["names"]
    assert isinstance(seeds.shape, ListOf)
    assert seeds.shape.keys == ("id", "kind")
    assert (seeds.merges, seeds.merge_key) == (True, "id")
    assert isinstance(names.shape, ListOf)
    assert (names.shape.is_set, names.merges, names.merge_key) == (True, True, "")
    notes = fruit.fields["notes"].shape
    assert isinstance(notes, ListOf)
    assert not notes.is_associative


def test_entries_say_what_is_written_when_empty() -> None:
    fields = ReleaseTypes(TYPES).struct("core", "Fruit").fields
    told = {name: (field.is_required, field.omitted) for name, field in fields.items()}
    assert told["seeds"] == (True, Omitted.NEVER)
    assert told["peel"] == (False, Omitted.NEVER)
    assert told["taste"] == (True, Omitted.WHEN_EMPTY)
    assert told["notes"] == (False, Omitted.WHEN_EMPTY)


def test_names_stand_for_types_and_show_in_messages() -> None:
    known = ReleaseTypes(TYPES)
    fields = known.struct("core", "Fruit").fields
    kind = known.struct("core", "Seed").fields["kind"]
    assert isinstance(kind.shape, Scalar)
    assert (kind.shape.form, kind.shape.values) == (Form.STRING, ("Round", "Square"))
    assert (kind.default, go_name(kind.shape)) == ("Round", "v1.Shape")
    assert go_name(fields["amounts"].shape) == "v1.Amounts"
    assert go_name(fields["seeds"].shape) == "[]v1.Seed"
    assert go_name(fields["labels"].shape) == "map[string]string"


def test_structs_may_refer_to_each_other_and_include_each_other() -> None:
    known = ReleaseTypes(TYPES)
    assert known.struct("core", "Seed").fields["other"].shape is known.struct("core", "Fruit")
    pip = known.struct("core", "Pip")
    assert set(pip.fields) == {"thick", "weight", "peel"}
    peel = pip.fields["peel"].shape
    assert isinstance(peel, Struct)
    assert (peel.is_atomic, known.struct("core", "Peel").is_atomic) == (False, True)
    labels = known.struct("core", "Fruit").fields["labels"].shape
    assert isinstance(labels, MapOf)
    assert labels.is_atomic
