"""The index of volumes, however it came to be."""

from hypothesis import given
from hypothesis import strategies as st
from support.scheduler.plugins.storage_builders import make_claim, make_volume

from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.plugins.volume_binding.node_reach import NodeReach
from podium.scheduler.plugins.volume_binding.plugin import bound_to
from podium.scheduler.plugins.volume_binding.pod_volumes import AssumedObjects
from podium.scheduler.plugins.volume_binding.volume_index import ClaimWants, VolumeIndex

volumes = st.builds(
    lambda n, capacity, claimed, phase, group: make_volume(
        f"v{n}",
        capacity=capacity,
        claim={"name": "c", "namespace": "default"} if claimed else None,
        phase=phase,
        storage_class=group,
    ),
    st.integers(0, 4),
    st.sampled_from(("1Gi", "2Gi", "3Gi", None)),
    st.integers(0, 3).map(lambda n: n == 0),
    st.sampled_from(("Available", "Available", "Bound")),
    st.sampled_from(("s", "t")),
)
changes = st.lists(st.tuples(volumes, st.sampled_from(("put", "remove", "take"))), max_size=12)


def contents(index: VolumeIndex) -> dict[str, tuple[list[str], dict[str, list[str]]]]:
    return {
        name: (
            [volume.name for volume in index.of_class(name).free],
            {
                claim: [volume.name for volume in held]
                for claim, held in index.of_class(name).reserved.items()
                if held
            },
        )
        for name in ("s", "t")
    }


def offered(index: VolumeIndex, claim: PersistentVolumeClaim) -> list[str]:
    """Names of the volumes a claim could take, in the order it would."""
    offers = index.free(ClaimWants(claim))
    return [index.by_number[number].name for number in offers.numbers.tolist()]


def index_over(catalog: Catalog, assumed: AssumedObjects[PersistentVolume]) -> VolumeIndex:
    index = VolumeIndex(catalog, assumed, NodeReach(NodeTable()))
    index.refresh()
    return index


@given(changes=changes, lots=st.booleans())
def test_an_index_that_follows_equals_one_made_anew(
    changes: list[tuple[PersistentVolume, str]], lots: bool
) -> None:
    catalog = Catalog()
    assumed = AssumedObjects(catalog, PersistentVolume)
    index = index_over(catalog, assumed)
    for volume, what in changes:
        name = volume.metadata.name
        held = assumed.get(name)
        if what == "put":
            catalog.put(volume)
        elif what == "remove":
            catalog.remove(volume)
        elif held is not None:
            assumed.assume(bound_to(held, make_claim("taker")))
        if lots:
            for number in range(70):
                catalog.put(make_volume(f"busy{number}", storage_class="t"))
        index.refresh()
        fresh = VolumeIndex(catalog, assumed, NodeReach(NodeTable()))
        fresh.refresh()
        assert contents(index) == contents(fresh)
        anything = make_claim("c", request=None, storage_class="s")
        assert offered(index, anything) == offered(fresh, anything) == contents(index)["s"][0]


def test_after_very_many_changes_the_index_is_made_anew() -> None:
    catalog = Catalog()
    assumed = AssumedObjects(catalog, PersistentVolume)
    catalog.put(make_volume("gone", storage_class="s"))
    index = index_over(catalog, assumed)
    catalog.remove(make_volume("gone"))
    for number in range(9000):
        catalog.put(
            make_volume(f"v{number % 3}", capacity=f"{3 - number % 3}Gi", storage_class="s")
        )
    index.refresh()
    assert contents(index)["s"] == (["v2", "v1", "v0"], {})


def test_a_claim_begins_looking_where_the_size_suffices() -> None:
    catalog = Catalog()
    for size in (1, 2, 3):
        catalog.put(make_volume(f"v{size}", capacity=f"{size}Gi", storage_class="s"))
    index = index_over(catalog, AssumedObjects(catalog, PersistentVolume))
    assert offered(index, make_claim("c", request="2Gi", storage_class="s")) == ["v2", "v3"]
    assert offered(index, make_claim("c", request=None, storage_class="s")) == ["v1", "v2", "v3"]
    assert offered(index, make_claim("c", storage_class="unknown")) == []


def test_an_attributes_class_must_be_the_same() -> None:
    catalog = Catalog()
    catalog.put(make_volume("fast", storage_class="s", volumeAttributesClassName="fast"))
    catalog.put(make_volume("plain", storage_class="s"))
    index = index_over(catalog, AssumedObjects(catalog, PersistentVolume))

    def found(name: str | None) -> list[str]:
        return offered(index, make_claim("c", storage_class="s", volumeAttributesClassName=name))

    assert found("fast") == ["fast"]
    assert found("") == ["plain"]
    assert found(None) == ["plain"]
