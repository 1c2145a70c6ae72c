"""Which device class serves an extended resource."""

from podium.kubernetes.kinds.devices import DeviceClass, DeviceClassSpec
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.plugins.resources.extended_resource_classes import ExtendedResourceClasses

GPU = "example.com/gpu"


def device_class(name: str, serves: str | None = None, created: str = "") -> DeviceClass:
    return DeviceClass(
        metadata=ObjectMeta(name=name, creation_timestamp=created or None),
        spec=DeviceClassSpec(extended_resource_name=serves),
    )


def serving(*classes: DeviceClass) -> ExtendedResourceClasses:
    catalog = Catalog()
    for each in classes:
        catalog.put(each)
    return ExtendedResourceClasses(catalog)


def name_of(found: DeviceClass | None) -> str | None:
    return found.metadata.name if found is not None else None


def test_every_class_serves_a_resource_of_its_own_name() -> None:
    classes = serving(device_class("gpu"))
    assert name_of(classes.find("deviceclass.resource.kubernetes.io/gpu")) == "gpu"
    assert classes.find("deviceclass.resource.kubernetes.io/nic") is None
    assert classes.find("gpu") is None


def test_a_class_serves_the_resource_it_names() -> None:
    classes = serving(device_class("gpu", GPU))
    assert name_of(classes.find(GPU)) == "gpu"
    assert name_of(classes.find("deviceclass.resource.kubernetes.io/gpu")) == "gpu"


def test_the_newest_of_several_classes_serves_a_resource() -> None:
    old = device_class("a", GPU, "2026-01-01T00:00:00Z")
    new = device_class("b", GPU, "2026-01-02T00:00:00Z")
    assert name_of(serving(old, new).find(GPU)) == "b"
    assert name_of(serving(new, old).find(GPU)) == "b"


def test_among_classes_of_one_age_the_first_name_serves_a_resource() -> None:
    first, second = (device_class(name, GPU, "2026-01-01T00:00:00Z") for name in "ab")
    assert name_of(serving(first, second).find(GPU)) == "a"
    assert name_of(serving(second, first).find(GPU)) == "a"


def test_a_class_that_comes_too_late_for_its_name_serves_nothing() -> None:
    new = device_class("b", GPU, "2026-01-02T00:00:00Z")
    old = device_class("a", GPU, "2026-01-01T00:00:00Z")
    assert serving(new, old).find("deviceclass.resource.kubernetes.io/a") is None
    assert serving(old, new).find("deviceclass.resource.kubernetes.io/a") is not None


def test_classes_that_come_and_go_are_noticed() -> None:
    catalog = Catalog()
    classes = ExtendedResourceClasses(catalog)
    assert classes.find(GPU) is None
    catalog.put(device_class("gpu", GPU))
    assert name_of(classes.find(GPU)) == "gpu"
    catalog.remove(device_class("gpu", GPU))
    assert classes.find(GPU) is None
