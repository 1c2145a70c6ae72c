"""`podium capacity` as a user calls it."""

from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import EXAMPLES, Raw, node, pod, podium, writer

CLUSTER = ("-f", str(EXAMPLES / "cluster.yaml"))
SHOP = EXAMPLES / "what-if"


def stored(raw: Raw, **metadata: Any) -> Raw:
    raw["metadata"] |= {"namespace": "default", "uid": raw["metadata"]["name"], **metadata}
    raw["metadata"]["resourceVersion"] = "7"
    return raw


def test_every_pod_is_counted_alone_and_together(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "capacity", *CLUSTER, "-f", str(SHOP / "checkout.yaml"), "-o", "json")

    document = done.decoded()
    assert done.code == 0
    alone = {each["workload"]: each["fits"] for each in document["pods"]}
    together = {each["workload"]: each["fits"] for each in document["together"]}
    assert alone == {"deployment/checkout": 7, "deployment/cart": 26}
    assert together["deployment/checkout"] <= 7
    assert sum(each["fits"] for each in document["pods"][0]["nodes"]) == 7


def test_the_answer_has_the_same_bytes_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    command = ("capacity", *CLUSTER, "-f", str(SHOP / "checkout.yaml"), "-o", "json")
    assert podium(capsys, *command) == podium(capsys, *command)


def test_nodes_to_add_are_told_with_their_price(capsys: pytest.CaptureFixture[str]) -> None:
    command = ("capacity", *CLUSTER, "-f", str(SHOP / "api.yaml"), "--want", "40")
    shapes = ("--shapes", str(SHOP / "shapes.yaml"))

    done = podium(capsys, *command, *shapes, "-o", "json")

    add = done.decoded()["add"]
    assert done.code == 1
    assert add["nodes"] == [{"shape": "small", "nodes": 2}, {"shape": "large", "nodes": 3}]
    assert (add["fits"], add["price"], add["cheapest"]) == (41, 1.25, True)
    assert "add 2 x small, 3 x large for 1.25" in podium(capsys, *command, *shapes).out


def test_pods_that_a_cluster_has_pending_are_placed_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write = writer(tmp_path)
    cluster = write(stored(node()), stored(pod("waits", "3")), name="cluster.json")
    more = write(pod("more", "1"), name="more.json")

    done = podium(capsys, "capacity", cluster, more, "-o", "json")

    assert [(p["name"], p["fits"]) for p in done.decoded()["pods"]] == [("more", 1)]


def test_a_pod_of_the_cluster_can_be_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    running = stored(pod("web-0", "1"))
    running["spec"]["nodeName"] = "n1"
    cluster = writer(tmp_path)(stored(node()), running)

    assert (
        podium(capsys, "capacity", cluster, "--of", "web-0", "-o", "json").decoded()["pods"][0][
            "fits"
        ]
        == 3
    )
    done = podium(capsys, "capacity", cluster)
    assert done.code == 2
    assert "--of" in done.err


def test_each_copy_of_a_stateful_pod_has_a_volume_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asks = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"metadata": {"name": "data"}, "spec": {"storageClassName": "local", **asks}}
    template = pod("db", "100m")["spec"]
    template["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    stateful = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {
            "replicas": 1,
            "serviceName": "db",
            "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": template},
            "volumeClaimTemplates": [claim],
        },
    }
    local = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "local"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    on_n1 = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}
    volumes = [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"disk-{number}"},
            "spec": {
                "capacity": {"storage": "2Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "local",
                "local": {"path": f"/disks/{number}"},
                "nodeAffinity": {
                    "required": {"nodeSelectorTerms": [{"matchExpressions": [on_n1]}]}
                },
            },
        }
        for number in range(3)
    ]
    n1 = node("n1", labels={"kubernetes.io/hostname": "n1"})
    path = writer(tmp_path)(n1, local, stateful, *volumes)

    (room,) = podium(capsys, "capacity", path, "-o", "json").decoded()["pods"]

    assert room["fits"] == 3
    assert "persistent volumes" in room["message"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--until", "lots"), "is no share"),
        (("--until", "cpu=130%"), "is no share"),
        (("--want", "0"), "1 or more"),
        (("--shapes", str(SHOP / "shapes.yaml")), "without --want"),
        (("--want", "3", "--shapes", str(SHOP / "api.yaml")), "no nodes"),
        (("--of", "nobody"), "no pod named nobody"),
    ],
)
def test_what_makes_no_sense_is_refused(
    options: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, "capacity", *CLUSTER, "-f", str(SHOP / "api.yaml"), *options)
    assert done.code == 2
    assert told in done.err
    assert not done.out


def test_a_price_under_its_earlier_name_counts_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write = writer(tmp_path)
    shape = write(node("a", cpu="4", annotations={"podium/price": "1.5"}), name="shapes.json")
    command = ("capacity", *CLUSTER, "-f", str(SHOP / "api.yaml"), "--want", "40")
    done = podium(capsys, *command, "--shapes", shape, "-o", "json")
    add = done.decoded()["add"]
    assert add["price"] == 1.5 * add["nodes"][0]["nodes"]
    assert "podium/price is an old spelling; write podium.dev/price" in done.err


def test_shapes_have_prices_all_or_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write = writer(tmp_path)
    command = ("capacity", *CLUSTER, "-f", str(SHOP / "api.yaml"), "--want", "90", "--shapes")
    half = write(node("a", annotations={"podium.dev/price": "1"}), node("b"))
    assert "no price for b" in podium(capsys, *command, half).err
    odd = write(node("a", annotations={"podium.dev/price": "free"}))
    assert "has price 'free'" in podium(capsys, *command, odd).err
    free = write(node("a"), node("b", cpu="8"))
    assert "the fewest nodes" in podium(capsys, *command, free).out


def test_many_nodes_are_grouped_by_what_stops_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = writer(tmp_path)(*(node(f"n{number}") for number in range(20)), pod("more", "3"))

    shown = podium(capsys, "capacity", path).out
    assert "grouped by why they take no more" in shown
    assert "n19" not in shown
    assert "n19" in podium(capsys, "capacity", path, "--all").out
