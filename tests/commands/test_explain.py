"""`podium explain` from the outside."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from podium.commands import main

EXAMPLES = Path(__file__).parents[2] / "examples"
INPUT = ("-f", str(EXAMPLES / "cluster.yaml"), "-f", str(EXAMPLES / "pods.yaml"))


@pytest.fixture(autouse=True)
def _wide_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["explain", *arguments, *INPUT])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def decoded(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    _, out, _ = run(capsys, *arguments, "-o", "json")
    return json.loads(out)


def test_a_placed_pod_is_explained_with_ranks_and_the_lead(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "web-1")
    assert code == 0
    assert "the best of 3 that fit of 7" in out
    assert "decided after 7 pending pods ahead of it in the queue" in out
    assert "Where the lead comes from" in out
    assert "the same for every node: TaintToleration 300" in out
    assert "node(s) had untolerated taint(s)" in out


def test_a_pod_that_does_not_fit_is_explained_by_reasons(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "gpu-trainer")
    assert code == 1
    assert "no node fits" in out
    assert "node(s) didn't match Pod's node affinity/selector" in out
    assert "general-a1, general-a2, general-b1 and 3 more" in out
    assert "0/7 nodes are available" in out


def test_the_cause_stands_before_everything_else(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "gpu-trainer")
    assert out.splitlines()[0] == (
        "No node has gpu.example.com/model=h100; there is a100 on 2 nodes;"
        " without its node selector 1 node would fit."
    )


def test_a_pod_that_gets_a_node_has_no_cause(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "web-1")
    assert out.startswith("Pod ")
    assert decoded(capsys, "web-1")["causes"] == []


def test_yaml_holds_causes_too(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "gpu-trainer", "-o", "yaml")
    (document,) = yaml.safe_load_all(out)
    (cause,) = document["causes"]
    assert (cause["code"], cause["plugin"]) == ("label-value-missing", "NodeAffinity")
    assert cause["facts"]["present"] == {"a100": 2}
    assert document["attempts"][-1]["causes"] == document["causes"]


def test_one_node_is_told_what_keeps_the_pod_off_all_of_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    spec = {"containers": [{"name": "c", "image": "i"}], "volumes": [volume]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "waits"}, "spec": spec}
    path = tmp_path / "pod.json"
    path.write_text(json.dumps(pod))
    _, out, _ = run(capsys, "waits", "-f", str(path), "--node", "gpu-a1")
    assert 'persistentvolumeclaim "data" not found' in out
    (row,) = (line for line in out.splitlines() if line.startswith("VolumeRestrictions"))
    assert "PersistentVolumeClaim default/data does not exist." in row


def test_one_node_is_told_who_has_the_port(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    container = {"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}
    proxy = {"metadata": {"name": "proxy"}, "spec": {"nodeName": "n", "containers": [container]}}
    waits = {"metadata": {"name": "waits"}, "spec": {"containers": [container]}}
    node = {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "pods": "110"}}}
    items = [
        {"apiVersion": "v1", "kind": kind, **body}
        for kind, body in (("Node", node), ("Pod", proxy), ("Pod", waits))
    ]
    path = tmp_path / "objects.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert main(["explain", "waits", "-f", str(path), "--node", "n"]) == 1
    assert "host port 80/TCP is taken by default/proxy" in capsys.readouterr().out


def test_explain_agrees_with_simulate(capsys: pytest.CaptureFixture[str]) -> None:
    main(["simulate", *INPUT, "-o", "json"])
    simulated = json.loads(capsys.readouterr().out)
    for entry in simulated["pods"]:
        explained = decoded(capsys, f"{entry['namespace']}/{entry['name']}")
        assert explained["node"] == entry["node"]
        assert explained["outcome"] == entry["outcome"]


def test_json_ranks_every_node_and_names_every_objection(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = decoded(capsys, "web-1")
    (attempt,) = document["attempts"]
    assert len(attempt["nodes"]) == 7
    best = attempt["nodes"][0]
    assert (best["name"], best["rank"], best["chosen"]) == (document["node"], 1, True)
    assert best["total"] == sum(score["weighted"] for score in best["scores"].values())
    by_name = {node["name"]: node for node in attempt["nodes"]}
    assert set(by_name["general-b2"]["objections"]) >= {"NodeUnschedulable", "TaintToleration"}


def test_a_preemptor_shows_both_attempts(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "render")
    assert code == 0
    assert "no node fits; evicts default/sweep-2 from gpu-b1" in out
    assert "Nodes that did not fit before the eviction" in out
    document = decoded(capsys, "render")
    assert [attempt["node"] for attempt in document["attempts"]] == [None, "gpu-b1"]
    assert document["attempts"][0]["preemption"]["victims"] == ["default/sweep-2"]


def test_one_node_is_shown_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "gpu-trainer", "--node", "gpu-a1")
    assert "nodeSelector gpu.example.com/model=h100 (the node has a100)" in out
    assert "Insufficient nvidia.com/gpu (rejects it too)" in out
    assert "1 nvidia.com/gpu missing" in out
    assert "ASKED FOR" in out


def test_one_node_that_fits_is_shown_with_all_scores(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "web-1", "--node", "general-b1")
    assert "fits, rank 2 of 3" in out
    assert "NORMALISED" in out


def test_json_can_be_about_one_node(capsys: pytest.CaptureFixture[str]) -> None:
    document = decoded(capsys, "web-1", "--node", "general-b1")
    assert [node["name"] for node in document["attempts"][-1]["nodes"]] == ["general-b1"]


def test_a_running_pod_is_decided_as_if_it_were_pending(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "cache-0")
    assert code == 0
    assert "runs on general-b1; decided as if it were pending now and its place were free" in out


def test_alone_leaves_the_other_pods_out(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "trainer", "--alone")
    assert "decided alone, without the other pending pods" in out


def test_a_gated_pod_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "report")
    assert code == 1
    assert "waiting for scheduling gates: [example.com/quota-approved]" in out
    assert "never tried" in out


def test_top_limits_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "web-0", "--top", "2")
    assert "and 2 more nodes; --top lists more" in out


def test_wide_shows_raw_scores_and_the_filter_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "web-0", "-o", "wide")
    assert "0 → 100 → 300" in out
    assert "Filters" in out
    assert "✗" in out


def test_a_namespace_may_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "kube-system/node-agent-general-b2")
    assert code == 0
    assert "general-b2, the only node that fits of 7" in out


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("web-9", "no pod named web-9 in the input; did you mean web-"),
        ("zebra", "there are cache-0, database-0, gpu-trainer"),
        ("other/web-0", "no pod named other/web-0"),
    ],
)
def test_a_pod_that_is_not_there_is_told(
    capsys: pytest.CaptureFixture[str], name: str, told: str
) -> None:
    code, out, err = run(capsys, name)
    assert (code, out) == (2, "")
    assert told in err


def test_a_node_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "web-0", "--node", "general-a9")
    assert code == 2
    assert "no node named general-a9 in the input; did you mean general-a" in err


def test_a_name_in_two_namespaces_has_to_be_told_apart(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "twins.yaml"
    path.write_text(
        "\n---\n".join(
            f"""
apiVersion: v1
kind: Pod
metadata: {{name: twin, namespace: {namespace}}}
spec: {{containers: [{{name: main, image: app}}]}}
"""
            for namespace in ("a", "b")
        )
    )
    code, _, err = run(capsys, "twin", str(path))
    assert code == 2
    assert "2 pods are named twin; say which: a/twin, b/twin" in err


@pytest.mark.parametrize("columns", ["60", "80", "100"])
def test_wide_breaks_neither_words_nor_scores_on_a_narrow_screen(
    columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    _, out, _ = run(capsys, "web-0", "-o", "wide")
    ranking = out[out.index("Nodes that fit") : out.index("Where the lead")]
    assert max(map(len, ranking.splitlines()[1:])) <= int(columns)
    words = {"Taint", "Toleration", "Resources", "Balanced", "Allocation", "Locality"}
    assert words <= set(ranking.split())
    assert ranking.count("0 → 100 → 300") == 4
    assert ranking.count("73 → 73 → 73") == 4


def test_a_workload_is_explained_by_a_pod_that_gets_no_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template = {
        "metadata": {"labels": {"app": "big"}},
        "spec": {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}]
        },
    }
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": 10}},
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "big"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "big"}},
            "template": template,
        },
    }
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all([node, deployment]))
    code = main(["explain", "deployment/big", "-f", str(tmp_path / "all.yaml")])
    told = capsys.readouterr()
    assert code == 1
    assert "no node fits" in told.out
    assert "of the same gets no node" in told.err
