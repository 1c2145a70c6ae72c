"""Which extenders are asked about a pod, and in which order."""

from hypothesis import given
from hypothesis import strategies as st

from podium.scheduler.config.types import Extender, ExtenderManagedResource
from podium.scheduler.framework.asking import find_interested, in_calling_order
from podium.testing import make_pod

NAMES = ("a.com/x", "b.com/y", "c.com/z")


def managing(*names: str) -> Extender:
    resources = tuple(ExtenderManagedResource(name=name) for name in names)
    return Extender(",".join(names), managed_resources=resources)


@given(st.lists(st.booleans()))
def test_errors_that_count_come_first_and_else_the_order_is_the_files(flags: list[bool]) -> None:
    listed = [Extender(str(at), ignorable=flag) for at, flag in enumerate(flags)]
    strict = [extender for extender in listed if not extender.ignorable]
    lax = [extender for extender in listed if extender.ignorable]
    assert list(in_calling_order(listed)) == strict + lax


@given(
    st.lists(st.lists(st.sampled_from(NAMES), unique=True)),
    st.lists(st.sampled_from(NAMES), unique=True),
)
def test_an_extender_hears_of_pods_that_name_a_resource_of_its_own_or_if_it_has_none(
    managed: list[list[str]], named: list[str]
) -> None:
    listed = [managing(*names) for names in managed]
    pod = make_pod("p", requests=dict.fromkeys(named, "0"))
    expected = [
        e for e, names in zip(listed, managed, strict=True) if not names or set(names) & set(named)
    ]
    assert list(find_interested(listed, pod)) == expected


def test_a_container_without_resources_names_none() -> None:
    pod = make_pod("p", containers=[{"name": "c"}])
    assert find_interested([managing("a.com/x")], pod) == ()
