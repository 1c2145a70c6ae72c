"""Equal parts of objects are held once, and nothing else changes."""

from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod, Toleration
from podium.offline.simulate.live_cluster import SharedParts
from podium.testing import make_node, make_pod


def _pod(name: str, cpu: str = "1") -> Pod:
    pod = make_pod(name, requests={"cpu": cpu}, labels={"app": "web"})
    return replace(pod, spec=replace(pod.spec, tolerations=(Toleration(key="a"),)))


def test_pods_of_one_template_share_what_they_have_in_common() -> None:
    first, second, other = _pod("a"), _pod("b"), _pod("c", cpu="2")
    before = [replace(pod) for pod in (_pod("a"), _pod("b"), _pod("c", cpu="2"))]
    SharedParts().share([first, second, other])
    assert [first, second, other] == before
    assert first.spec.containers is second.spec.containers
    assert first.spec.tolerations is second.spec.tolerations
    assert first.metadata.labels is second.metadata.labels
    assert other.spec.containers is not first.spec.containers


def test_nodes_and_pods_do_not_take_each_others_parts() -> None:
    node, pod = make_node("n1"), make_pod("p")
    expected = (make_node("n1"), make_pod("p"))
    parts = SharedParts()
    parts.share([node])
    parts.share([pod])
    assert (node, pod) == expected
