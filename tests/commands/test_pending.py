"""`podium pending` from the outside."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import EXAMPLE, Write, node, pod, podium, writer
from support.e2e.pending_workloads import PendingWorkload, cases

WAITING = (*EXAMPLE, "-f", "examples/waiting.yaml")


@pytest.fixture(autouse=True)
def _wide_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def owned(name: str, workload: str, **spec: Any) -> dict[str, Any]:
    """A pod of a Deployment, as a dump has it."""
    found = pod(name, **spec)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": True}
    owner |= {"name": f"{workload}-5d4f8", "uid": workload}
    found["metadata"] |= {
        "labels": {"pod-template-hash": "5d4f8", "app": workload},
        "ownerReferences": [owner],
        "resourceVersion": "1",
        "uid": name,
    }
    return found


def test_pods_stand_together_by_cause_with_the_first_thing_to_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = podium(capsys, "pending", *WAITING)
    assert done.code == 1
    assert "No node fits  4 pods" in done.out
    assert "✗ 1 pod: PersistentVolumeClaim default/store-date does not exist.\n" in done.out
    assert "→ use PersistentVolumeClaim store-data in place of store-date" in done.out
    assert "Held back by a gate  1 pod" in done.out
    assert "! deletes pod default/store and creates it again\n" in done.out
    assert "16 pending pods on 7 nodes: 11 get a node, 4 without a node, 1 gated" in done.out


def test_a_cause_names_its_workloads_the_largest_first(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    wants = {"nodeSelector": {"disk": "ssd"}}
    pods = [owned(f"api-{at}", "api", **wants) for at in range(2)]
    pods += [owned(f"web-{at}", "web", **wants) for at in range(3)]
    done = podium(capsys, "pending", "-f", write(node(), *pods), "-o", "json")
    (cause,) = done.decoded()["causes"]
    assert cause["podCount"] == 5
    assert cause["code"] == "label-missing"
    assert [(each["kind"], each["name"], each["pods"]) for each in cause["workloads"]] == [
        ("Deployment", "web", 3),
        ("Deployment", "api", 2),
    ]
    assert cause["first"]["pods"] == {"wanted": 3, "before": 0, "after": 3}
    assert cause["ask"].startswith("podium why deployment/web -n default -f ")


def test_what_it_says_to_ask_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, "pending", *WAITING, "-o", "json")
    for cause in done.decoded()["causes"]:
        asked = podium(capsys, *cause["ask"].split()[1:], "-o", "json").decoded()
        assert asked["proposals"][0] == cause["first"], cause["ask"]


@pytest.mark.parametrize("case", list(cases())[::4], ids=lambda case: case.name)
def test_the_first_proposal_is_the_first_of_why(
    capsys: pytest.CaptureFixture[str], write: Write, case: PendingWorkload
) -> None:
    path = write(*case.nodes, *case.first, *case.then)
    pending = podium(capsys, "pending", "-f", path, "-o", "json", "--top", "99")
    assert pending.code in (0, 1), pending.err
    for cause in json.loads(pending.out)["causes"]:
        if cause["tried"]:
            asked = podium(capsys, *cause["ask"].split()[1:], "-o", "json")
            assert (json.loads(asked.out)["proposals"] or [None])[0] == cause["first"]


def test_changes_are_looked_for_where_most_pods_wait(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    few = [pod("rare", nodeSelector={"disk": "ssd"})]
    many = [owned(f"web-{at}", "web", nodeSelector={"pool": "x"}) for at in range(2)]
    path = write(node(), *few, *many)
    done = podium(capsys, "pending", "-f", path, "--top", "1", "-o", "json")
    assert [(each["podCount"], each["tried"]) for each in done.decoded()["causes"]] == [
        (2, True),
        (1, False),
    ]


def test_nothing_that_waits_is_a_success(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    done = podium(capsys, "pending", "-f", write(node(), pod("p")))
    assert done.code == 0
    assert "✓ 1 pending pod on 1 node: 1 gets a node" in done.out
    assert podium(capsys, "pending", "-f", write(node())).code == 0


def test_pods_of_other_schedulers_are_listed_and_do_not_count(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    done = podium(capsys, "pending", "-f", write(node(), pod("p", schedulerName="volcano")))
    assert done.code == 0
    assert "For another scheduler  1 pod" in done.out
    assert "→ use schedulerName default-scheduler in place of volcano" in done.out


def test_workloads_whose_pods_are_not_created_have_a_row(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    refused = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": "web-5d4f8",
            "namespace": "default",
            "resourceVersion": "1",
            "uid": "web",
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "Deployment",
                    "name": "web",
                    "uid": "d",
                    "controller": True,
                }
            ],
        },
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "x"}]},
            },
        },
        "status": {
            "replicas": 0,
            "conditions": [
                {
                    "type": "ReplicaFailure",
                    "status": "True",
                    "message": 'pods "web-5d4f8-x" is forbidden: exceeded quota: tight',
                }
            ],
        },
    }
    done = podium(capsys, "pending", "-f", write(node(), refused))
    assert done.code == 1
    assert "Not created  1 workload" in done.out
    assert "exceeded quota: tight" in done.out
    assert "default/deployment/web" in done.out
    assert "1 workload with pods that are not created" in done.out


def test_why_without_a_pod_asks_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    why = podium(capsys, "why", *WAITING)
    pending = podium(capsys, "pending", *WAITING, "--top", "5")
    assert (why.code, why.out) == (pending.code, pending.out)


def test_the_report_for_browsers_holds_a_bounded_number_of_names(
    capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path
) -> None:
    page = tmp_path / "pending.html"
    pods = [pod(f"p-{at}", nodeSelector={"pool": "x"}) for at in range(300)]
    done = podium(capsys, "pending", "-f", write(node(), *pods), "--html", str(page))
    assert done.code == 1
    text = page.read_text()
    assert "default/p-199" in text
    assert "default/p-200" not in text
