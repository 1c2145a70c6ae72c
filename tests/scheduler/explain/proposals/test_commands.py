"""Commands that a shell and kubectl read as they are meant, whatever is in the names."""

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.scheduler.explain.asked_engine import GPU, ask, node, owned_by, proposal
from support.waiting import PATIENCE_S

from podium.kubernetes.kinds.meta import ObjectMeta, OwnerReference
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import ReplicaSet, ReplicaSetSpec
from podium.scheduler.explain.proposals.shell import Kubectl
from podium.testing import make_pod

EVIL = "x'; touch /tmp/owned; echo '$(id) `id` \"\n# &"


def patch_of(line: str) -> Any:
    (word,) = [w for w in shlex.split(line) if w.startswith("--patch=")]
    return json.loads(word.removeprefix("--patch="))


def tolerating(pod: Pod) -> tuple[str, ...]:
    return proposal(ask(pod, node("a", taints=[GPU])), "tolerate-taint").commands


def shrinking(pod: Pod, *objects: ReplicaSet) -> tuple[str, ...]:
    return proposal(ask(pod, node("a"), *objects), "lower-request").commands


def test_a_stored_pod_without_tolerations_gets_a_list_of_them() -> None:
    (line,) = tolerating(make_pod("p", metadata={"resourceVersion": "7"}))
    (change,) = patch_of(line)
    assert (change["op"], change["path"]) == ("add", "/spec/tolerations")
    assert change["value"][0]["key"] == "gpu"


def test_a_pod_from_a_manifest_gets_one_more_than_the_server_gave_it() -> None:
    (line,) = tolerating(make_pod("p"))
    assert patch_of(line)[0]["path"] == "/spec/tolerations/-"


def test_a_deployment_is_patched_by_the_name_that_its_replica_set_implies() -> None:
    pod = make_pod(
        "web-5d4-x",
        requests={"cpu": "9"},
        metadata={
            **owned_by("ReplicaSet", "web-5d4"),
            "labels": {"pod-template-hash": "5d4"},
        },
    )
    (line,) = shrinking(pod)
    assert shlex.split(line)[:3] == ["kubectl", "patch", "deployment/web"]
    containers = [{"name": "main", "resources": {"requests": {"cpu": "4"}}}]
    assert patch_of(line) == {"spec": {"template": {"spec": {"containers": containers}}}}


def test_a_deployment_is_found_through_the_owner_of_its_replica_set() -> None:
    pod = make_pod("p", requests={"cpu": "9"}, metadata=owned_by("ReplicaSet", "odd"))
    owner = OwnerReference(api_version="apps/v1", kind="Deployment", name="web", controller=True)
    metadata = ObjectMeta(name="odd", namespace="default", owner_references=(owner,))
    (line,) = shrinking(pod, ReplicaSet(metadata=metadata))
    assert shlex.split(line)[2] == "deployment/web"


@pytest.mark.parametrize("kind", ["StatefulSet", "ReplicaSet", "ReplicationController"])
def test_owners_that_do_not_replace_a_waiting_pod_need_it_deleted(kind: str) -> None:
    lines = shrinking(make_pod("p", requests={"cpu": "9"}, metadata=owned_by(kind, "own")))
    assert [shlex.split(line)[1:3] for line in lines] == [
        ["patch", f"{kind.lower()}/own"],
        ["delete", "pod/p"],
    ]


def test_a_job_is_made_anew_without_what_ties_it_to_its_pods() -> None:
    pod = make_pod("p", requests={"cpu": "9"}, metadata=owned_by("Job", "j", "batch/v1"))
    (line,) = shrinking(pod)
    assert line.startswith("kubectl get job/j ")
    change = patch_of(line)
    assert change["spec"]["selector"] is None
    assert "controller-uid" in change["spec"]["template"]["metadata"]["labels"]


def test_an_owner_of_a_foreign_kind_is_left_to_its_editor() -> None:
    pod = make_pod("p", requests={"cpu": "9"}, metadata=owned_by("Trainer", "t", "ml.io/v1"))
    note, line = shrinking(pod)
    assert note == "# Trainer t makes this pod: change its template"
    assert line == "kubectl edit Trainer.ml.io/t --namespace=default"


def test_tolerations_that_a_server_added_stay_out_of_templates() -> None:
    added = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}
    own = {"key": "team", "operator": "Exists"}
    pod = make_pod("p", tolerations=[added, own], metadata=owned_by("StatefulSet", "s"))
    line, _ = tolerating(pod)
    given = patch_of(line)["spec"]["template"]["spec"]["tolerations"]
    assert [each["key"] for each in given] == ["team", "gpu"]


def test_a_replica_set_that_makes_room_is_scaled_down_by_one() -> None:
    metadata = ObjectMeta(name="rs", namespace="default")
    owner = ReplicaSet(metadata=metadata, spec=ReplicaSetSpec(replicas=3))
    running = make_pod("r", node="a", requests={"cpu": "4"}, metadata=owned_by("ReplicaSet", "rs"))
    answer = ask(make_pod("p", requests={"cpu": "4"}), node("a"), running, owner)
    lines = proposal(answer, "evict-pods").commands
    assert lines == (
        "kubectl annotate pod/r controller.kubernetes.io/pod-deletion-cost=-1000 --overwrite"
        " --namespace=default",
        "kubectl scale replicaset/rs --replicas=2 --namespace=default",
    )


def test_hostile_names_stay_one_word_of_one_command(tmp_path: Path) -> None:
    """A program in kubectl's place writes down what it is given."""
    log = tmp_path / "words"
    fake = tmp_path / "kubectl"
    fake.write_text(f'#!/bin/sh\nfor word in "$@"; do printf \'%s\\0\' "$word"; done >> {log}\n')
    fake.chmod(0o755)
    pod = make_pod(EVIL, namespace=EVIL, nodeSelector={EVIL: EVIL, "--all": "true"})
    answer = ask(pod, node("--force", taints=[(EVIL, EVIL, "NoSchedule")]))
    assert answer.proposals
    for each in answer.proposals:
        for line in each.commands:
            done = subprocess.run(
                ["sh", "-c", line],
                env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
                cwd=tmp_path,
                capture_output=True,
                check=False,
                timeout=PATIENCE_S,
            )
            assert done.stderr == b"", line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kubectl", "words"]
    words = log.read_text().split("\0")
    assert f"--namespace={EVIL}" in words
    assert not {"id", "touch", "&"} & {*words}


def test_a_name_that_looks_like_an_option_comes_after_the_options() -> None:
    answer = ask(make_pod("p", nodeSelector={"--all": "true"}), node("a"))
    (line,) = proposal(answer, "label-node").commands
    assert line == "kubectl label --overwrite -- node/a --all=true"


def test_a_comment_stays_a_comment() -> None:
    pod = make_pod("p", requests={"cpu": "9"}, metadata=owned_by("Own", "x\ntouch y", "ml.io/v1"))
    note, _ = shrinking(pod)
    assert note.startswith("# ")
    assert "\n" not in note


def test_commands_name_the_cluster_that_was_asked_about() -> None:
    kubectl = Kubectl("my clusters/a", "admin@a")
    for line in (
        kubectl.run("cordon", "node/a"),
        kubectl.patch("pod/p", {}),
        kubectl.create({}),
        kubectl.replace_with("pod/p", {}),
    ):
        words = shlex.split(line)
        for at, word in enumerate(words):
            if word == "kubectl":
                assert words[at + 1 : at + 3] == ["--kubeconfig=my clusters/a", "--context=admin@a"]
