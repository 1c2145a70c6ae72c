"""Which pod somebody means."""

import pytest

from podium.golang.errors import InputError
from podium.offline.simulate import Scenario
from podium.offline.simulate.pod_references import find_pod
from podium.testing import make_pod

SCENARIO = Scenario(
    nodes=(),
    running=(make_pod("web-0", node="n1"), make_pod("web-01", node="n1")),
    pending=(
        make_pod("api-x", namespace="shop"),
        make_pod("api-x", namespace="lab"),
        *(make_pod(f"many-{number:02}") for number in range(12)),
    ),
)


def key(reference: str, namespace: str = "", current: str = "") -> str:
    metadata = find_pod(SCENARIO, reference, namespace, current).pod.metadata
    return f"{metadata.namespace}/{metadata.name}"


@pytest.mark.parametrize(
    ("reference", "namespace", "current", "found"),
    [
        ("web-0", "", "", "default/web-0"),
        ("default/web-0", "", "", "default/web-0"),
        ("pods/web-01", "", "", "default/web-01"),
        ("lab/pod/api-x", "", "", "lab/api-x"),
        ("api-x", "shop", "", "shop/api-x"),
        ("api", "", "lab", "lab/api-x"),
        ("many-0", "", "shop", None),
        ("many-03", "", "shop", "default/many-03"),
    ],
)
def test_a_name_is_meant_as_it_stands_before_as_a_beginning(
    reference: str, namespace: str, current: str, found: str | None
) -> None:
    if found is not None:
        assert key(reference, namespace, current) == found
        return
    with pytest.raises(InputError, match="10 pods begin with many-0"):
        key(reference, namespace, current)


@pytest.mark.parametrize(
    ("reference", "namespace", "problem"),
    [
        ("api-x", "", "2 pods are named api-x; say which: lab/api-x, shop/api-x"),
        ("many", "", "default/many-09 and 2 more"),
        ("lab/api-x", "shop", "lab/api-x is not in namespace shop"),
        ("web-9", "", "no pod named web-9 in the input; did you mean web-"),
        ("zzz", "shop", "no pod named zzz in namespace shop"),
        ("deploy/web", "", "no pod of deployment/web in the input"),
        ("a/gadget/b", "", '"gadget" is no kind of workload'),
        ("", "", "no pod named"),
    ],
)
def test_what_is_unclear_is_told(reference: str, namespace: str, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        key(reference, namespace)
    assert problem in str(raised.value)
