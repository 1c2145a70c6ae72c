"""`podium what-if` as a user calls it."""

from pathlib import Path

import pytest
from support.commands.command_line import EXAMPLES, node, pod, podium, writer

SHOP = ("what-if", "-f", str(EXAMPLES / "what-if" / "shop.yaml"))
NEW = str(EXAMPLES / "what-if" / "new-nodes.yaml")


def test_changes_are_made_in_the_order_of_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = podium(capsys, *SHOP, "--cordon", "worker-1", "--drain=worker-5", "-o", "json")
    then = podium(capsys, *SHOP, "--drain=worker-5", "--cordon", "worker-1", "-o", "json")

    assert first.decoded()["changes"] == ["cordon worker-1", "drain worker-5"]
    assert then.decoded()["changes"] == ["drain worker-5", "cordon worker-1"]
    assert "worker-1" not in {each["after"] for each in first.decoded()["moved"]}
    assert (first.code, then.code) == (1, 1)


def test_a_drain_tells_what_may_not_be_evicted(capsys: pytest.CaptureFixture[str]) -> None:
    document = podium(capsys, *SHOP, "--drain", "worker-5", "-o", "json").decoded()

    assert [each["pod"] for each in document["kept"]] == ["default/db-0"]
    assert {each["before"] for each in document["moved"]} == {"worker-5"}
    assert document["utilisation"]["cpu"]["requestedAfter"] == 11000
    nodes = {each["name"]: each["requested"]["cpu"] for each in document["nodes"]}
    assert nodes["worker-5"]["requestedBefore"] == 5000
    assert nodes["worker-5"]["requestedAfter"] == 2000


def test_failures_that_are_not_survived_are_told_with_the_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = podium(capsys, *SHOP, "--each-node", "--each-zone", "-o", "json")
    document = done.decoded()

    lost = [each for each in document["nodeFailures"] if not each["survived"]]
    assert done.code == 1
    assert [each["name"] for each in lost] == ["worker-5"]
    assert [each["pod"] for each in lost[0]["stranded"]] == ["default/db-0"]
    assert "node affinity/selector" in lost[0]["stranded"][0]["message"]
    assert [(z["name"], z["survived"]) for z in document["zoneFailures"]] == [
        ("a", True),
        ("b", False),
    ]


def test_a_cluster_that_survives_all_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, *SHOP, "--add", NEW, "--each-node")

    assert done.code == 0
    assert "each of 6 nodes may fail" in done.out


def test_every_change_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    changes = {
        "--uncordon": "worker-1",
        "--remove": "worker-2",
        "--fail": "worker-3",
        "--zone-outage": "b",
        "--add": NEW,
        "--taint": "worker-6:dedicated=db:NoExecute",
        "--scale": "deploy/web=2",
    }
    words = [word for change in changes.items() for word in change]

    done = podium(capsys, *SHOP, *words, "-o", "json")

    told = [f"{option.removeprefix('--')} {value}" for option, value in changes.items()]
    assert done.decoded()["changes"] == told
    taken_off = podium(capsys, *SHOP, "--taint", "worker-1:a:NoSchedule-", "-o", "json")
    assert taken_off.decoded()["changes"] == ["taint worker-1:a:NoSchedule-"]


def test_the_answer_has_the_same_bytes_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    command = (*SHOP, "--drain", "worker-1", "--each-zone", "-o", "json")
    assert podium(capsys, *command) == podium(capsys, *command)


def test_many_moves_are_grouped_by_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "w", "uid": "w"}
    pods = []
    for number in range(30):
        each = pod(f"web-{number}", "10m", nodeName="n1")
        each["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
        pods.append(each)
    path = writer(tmp_path)(node("n1"), node("n2"), *pods, pod("bare", "10m", nodeName="n1"))

    shown = podium(capsys, "what-if", path, "--fail", "n1")
    assert "30 pods; --all lists each of them" in shown.out
    assert "web-17" not in shown.out
    assert "default/bare" in shown.out
    assert "web-17" in podium(capsys, "what-if", path, "--fail", "n1", "--all").out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "nothing is to change"),
        (("--drain", "worker-9"), "no node named worker-9"),
        (("--zone-outage", "c"), "no node is in zone c"),
        (("--taint", "worker-1"), "is no taint"),
        (("--taint", "worker-1:a:Never"), "is no taint"),
        (("--scale", "web=5"), "is no number of pods"),
        (("--scale", "deploy/web=many"), "is no number of pods"),
        (("--scale", "deploy/nobody=3"), "has no pods"),
        (("--add", "nowhere.yaml"), "nowhere.yaml"),
        (("--fail", ""), "needs a value"),
    ],
)
def test_what_makes_no_sense_is_refused(
    options: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, *SHOP, *options)
    assert done.code == 2
    assert told in done.err
    assert not done.out
