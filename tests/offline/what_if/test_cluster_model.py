"""Questions from Python: the answers of the commands, as records."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import ROOT, Raw, node, pod, podium, writer

from podium.offline.what_if import (
    AddNodes,
    ClusterModel,
    Drain,
    Fail,
    InputError,
    Scale,
    compare_runs,
    load_cluster,
    load_nodes,
    parse_taint,
)

SHOP = str(ROOT / "examples/what-if/shop.yaml")
NEW = str(ROOT / "examples/what-if/new-nodes.yaml")
SHAPES = str(ROOT / "examples/what-if/shapes.yaml")
PAGE = (ROOT / "docs/python-api.md").read_text()
SCRIPT = ROOT / "examples/what-if/questions.py"


@pytest.fixture(scope="module")
def shop() -> ClusterModel:
    return load_cluster(SHOP)


def require_records(records: Any) -> None:
    """Flat, and with the same keys in each."""
    assert records
    for record in records:
        assert list(record) == list(records[0])
        assert all(isinstance(value, str | int | float | None) for value in record.values())


def test_the_documented_script_prints_what_the_page_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(SCRIPT))
    printed = capsys.readouterr().out
    shown = re.search(r"```python\n# examples/what-if/questions.py\n(.*?)```", PAGE, re.DOTALL)
    answer = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    assert shown[1] == SCRIPT.read_text()
    assert answer is not None
    assert answer[1] == printed


def test_a_run_is_that_of_the_command(
    shop: ClusterModel, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shop.run()

    document = podium(capsys, "simulate", "-f", SHOP, "-o", "json").decoded()
    assert [(each["name"], each["node"]) for each in run.pods] == [
        (each["name"], each["node"]) for each in document["pods"]
    ]
    assert run.summary["placed"] == document["summary"]["placed"]
    assert run == shop.run()
    require_records(run.pods)
    require_records(run.nodes)
    require_records([run.summary])


def test_capacity_is_that_of_the_command(
    shop: ClusterModel, capsys: pytest.CaptureFixture[str]
) -> None:
    found = shop.capacity("deployment/web", "sts/db")

    command = ("capacity", "-f", SHOP, "--of", "deployment/web", "--of", "sts/db", "-o", "json")
    document = podium(capsys, *command).decoded()
    assert [each["fits"] for each in found.pods] == [each["fits"] for each in document["pods"]]
    together = [each["fits"] for each in document["together"]]
    assert [each["fits_together"] for each in found.pods] == together
    assert sum(int(each["fits"] or 0) for each in found.nodes if each["name"] == "web-0") == 6
    require_records(found.pods)
    require_records(found.nodes)
    (limited,) = shop.capacity("deployment/web", until="60%").pods
    assert limited["stopped_by"] == "cpu"


def test_nodes_to_add_are_told_by_shape(shop: ClusterModel) -> None:
    bought = shop.nodes_to_add(20, SHAPES, of="deployment/web")
    require_records(bought)
    assert {each["shape"]: each["nodes"] for each in bought} == {"small": 2, "large": 1}
    assert shop.nodes_to_add(1, SHAPES, of="deployment/web") == []
    with pytest.raises(InputError, match="makes room for 9"):
        shop.nodes_to_add(9, SHAPES, of="sts/db")


def test_changes_are_told_pod_by_pod(shop: ClusterModel) -> None:
    drained = shop.what_if(Drain("worker-5"))
    assert [(each["name"], each["what"]) for each in drained] == [
        ("db-0", "kept"),
        ("web-0", "moved"),
        ("web-5", "moved"),
    ]
    require_records(drained)
    assert shop.what_if(Drain("worker-5")) == drained
    (lost,) = [each for each in shop.what_if(Fail("worker-5")) if each["what"] == "stranded"]
    assert (lost["name"], lost["after"]) == ("db-0", None)
    tainted = shop.what_if(parse_taint("worker-5:dedicated=x:NoExecute"), Scale("deploy/web", 1))
    assert {each["name"] for each in tainted if each["what"] == "stranded"} == {"db-0"}


def test_failures_are_told_after_changes(shop: ClusterModel) -> None:
    today = shop.each_node()
    require_records(today)
    assert [each["name"] for each in today if not each["survived"]] == ["worker-5"]
    assert all(each["survived"] for each in shop.each_node(AddNodes(load_nodes(NEW))))
    assert [each["survived"] for each in shop.each_zone()] == [True, False]


def test_runs_of_two_configurations_are_compared(shop: ClusterModel) -> None:
    packed = shop.with_config(str(ROOT / "examples/what-if/packing.yaml")).run()

    differ = compare_runs(shop.run(), packed)

    require_records(differ)
    assert len({each["node"] for each in packed.pods}) < len(shop.scenario.nodes)
    assert not compare_runs(packed, packed)
    assert shop.with_seed(7).run().summary["seed"] == 7
    assert not shop.without_pending().run().pods


def test_a_model_without_a_question_says_so(tmp_path: Path) -> None:
    model = load_cluster(writer(tmp_path)(node()))
    with pytest.raises(InputError, match="no pod to ask about"):
        model.capacity()
    with pytest.raises(InputError, match="no input"):
        load_cluster()


def ephemeral(name: str) -> Raw:
    """A pod with a volume of its own, which a controller would make again."""
    asks = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    template = {"spec": {"storageClassName": "zonal", **asks}}
    made = pod(name, volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}])
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "sort", "uid": "1"}
    made["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    return made


def test_claims_that_go_with_a_pod_are_made_again_with_it(tmp_path: Path) -> None:
    zonal = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "zonal"},
        "provisioner": "disks.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    nodes = [node(f"n{zone}", labels={"topology.kubernetes.io/zone": zone}) for zone in ("a", "b")]
    pods = [ephemeral(f"sort-{number}") for number in range(3)]
    model = load_cluster(writer(tmp_path)(*nodes, zonal, *pods))
    before = {each["name"]: each["node"] for each in model.run().pods}
    assert {*before.values()} == {"na", "nb"}

    moved = model.what_if(Fail("na"))

    assert {each["what"] for each in moved} == {"moved"}
    assert {each["name"] for each in moved} == {name for name in before if before[name] == "na"}
    assert all(each["survived"] for each in (*model.each_node(), *model.each_zone()))
