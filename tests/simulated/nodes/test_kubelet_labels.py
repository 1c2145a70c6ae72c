"""Labels that nodes have because their kubelets write them, and addresses that nobody shares."""

import ipaddress
from typing import Any

from support.live.virtual_loop import sleep_virtually
from support.simulated.simulated_clusters import Cluster, in_cluster, pod_spec

from podium.client.resources import NODES, PODS, SERVICES
from podium.kubernetes.rules.nodes import written_twins

OLD_ZONE, ZONE = "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"
OLD_REGION, REGION = "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"


def by_hand(name: str, **labels: str) -> dict[str, Any]:
    status = {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    written = {"podium.dev/simulated": "true", **labels}
    return {"metadata": {"name": name, "labels": written}, "status": status}


def test_a_node_made_by_hand_gets_the_labels_of_a_kubelet() -> None:
    async def scenario(cluster: Cluster) -> None:
        await cluster.create(NODES, by_hand("hand", **{OLD_ZONE: "z1", REGION: "r1"}))
        await cluster.create(NODES, by_hand("arm", **{"beta.kubernetes.io/arch": "arm64"}))
        stranger = by_hand("stranger")
        del stranger["metadata"]["labels"]
        await cluster.create(NODES, stranger)
        await sleep_virtually(5)
        labels = (await cluster.get(NODES, "hand"))["metadata"]["labels"]
        assert labels == {
            "podium.dev/simulated": "true",
            "kubernetes.io/hostname": "hand",
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "beta.kubernetes.io/os": "linux",
            "beta.kubernetes.io/arch": "amd64",
            OLD_ZONE: "z1",
            ZONE: "z1",
            OLD_REGION: "r1",
            REGION: "r1",
        }
        arm = (await cluster.get(NODES, "arm"))["metadata"]["labels"]
        assert arm["kubernetes.io/arch"] == arm["beta.kubernetes.io/arch"] == "arm64"
        assert "labels" not in (await cluster.get(NODES, "stranger"))["metadata"]

    in_cluster(scenario, nodes=0)


def test_both_names_of_a_label_follow_each_other_and_what_is_taken_away_stays_away() -> None:
    async def scenario(cluster: Cluster) -> None:
        async def label(**changed: str | None) -> dict[str, str]:
            await cluster.patch(NODES, "hand", {"metadata": {"labels": changed}})
            await sleep_virtually(5)
            found: dict[str, str] = (await cluster.get(NODES, "hand"))["metadata"]["labels"]
            return found

        await cluster.create(NODES, by_hand("hand"))
        labels = await label(**{ZONE: "a"})
        assert labels[OLD_ZONE] == "a"
        labels = await label(**{ZONE: "b"})
        assert labels[OLD_ZONE] == "b"
        labels = await label(**{ZONE: None, "kubernetes.io/os": None})
        assert (ZONE in labels, "kubernetes.io/os" in labels) == (False, False)
        labels = await label(**{OLD_REGION: "r"})
        assert labels[REGION] == "r"
        assert ZONE not in labels

    in_cluster(scenario, nodes=0)


def test_the_new_name_decides_where_both_were_written() -> None:
    assert written_twins({}, {ZONE: "new", OLD_ZONE: "old"}) == {OLD_ZONE: "new"}
    assert written_twins({}, {ZONE: "same", OLD_ZONE: "same"}) == {}
    assert written_twins({ZONE: "a", OLD_ZONE: "a"}, {ZONE: "a", OLD_ZONE: "b"}) == {ZONE: "b"}


def test_nodes_pods_and_services_have_addresses_of_their_own() -> None:
    async def scenario(cluster: Cluster) -> None:
        for number in range(3):
            service = {"metadata": {"name": f"s{number}"}, "spec": {"ports": [{"port": 80}]}}
            await cluster.create(SERVICES, service)
            await cluster.create(PODS, {"metadata": {"name": f"p{number}"}, "spec": pod_spec()})
        await sleep_virtually(15)
        nodes = [each["status"]["addresses"][0]["address"] for each in await cluster.all(NODES)]
        pods = [each["status"]["podIP"] for each in await cluster.all(PODS)]
        services = [each["spec"]["clusterIP"] for each in await cluster.all(SERVICES)]
        assert len({*nodes, *pods, *services}) == len(nodes) + len(pods) + len(services)
        ranges = ("10.128.0.0/10", "10.64.0.0/10", "10.0.0.0/24")
        networks = [ipaddress.ip_network(each) for each in ranges]
        for network, addresses in zip(networks, (nodes, pods, services), strict=True):
            assert all(ipaddress.ip_address(each) in network for each in addresses)
        assert not any(a.overlaps(b) for a in networks for b in networks if a is not b)

    in_cluster(scenario)
