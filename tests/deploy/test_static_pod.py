"""The static pod keeps what kubeadm's manifest has, and has the edits that articles tell of."""

import yaml
from support.deploy.shipped_manifests import DEPLOY, Manifest

FILE = "/etc/kubernetes/scheduler-config.yaml"


def pod() -> Manifest:
    made: Manifest = yaml.safe_load((DEPLOY / "static-pod" / "kube-scheduler.yaml").read_text())
    return made


def container() -> Manifest:
    (made,) = pod()["spec"]["containers"]
    found: Manifest = made
    return found


def probe(failures: int) -> Manifest:
    get = {"host": "127.0.0.1", "path": "/healthz", "port": 10259, "scheme": "HTTPS"}
    times = {"initialDelaySeconds": 10, "periodSeconds": 10, "timeoutSeconds": 15}
    return {"httpGet": get, **times, "failureThreshold": failures}


def test_what_is_not_edited_is_kubeadms() -> None:
    labels = {"component": "kube-scheduler", "tier": "control-plane"}
    assert pod()["metadata"] == {
        "name": "kube-scheduler",
        "namespace": "kube-system",
        "labels": labels,
    }
    spec = pod()["spec"]
    assert spec["hostNetwork"] is True
    assert spec["priorityClassName"] == "system-node-critical"
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container()["imagePullPolicy"] == "IfNotPresent"
    assert container()["resources"] == {"requests": {"cpu": "100m"}}


def test_the_probes_are_those_that_are_printed() -> None:
    assert container()["livenessProbe"] == probe(7)
    assert container()["startupProbe"] == probe(24)


def test_the_three_edits_are_made() -> None:
    assert f"--config={FILE}" in container()["command"]
    assert not any("--kubeconfig=" in word for word in container()["command"])
    assert container()["image"].startswith("podium:")
    volumes = {each["name"]: each.get("hostPath", {}) for each in pod()["spec"]["volumes"]}
    assert volumes["scheduler-config"]["path"] == FILE
    assert volumes["kubeconfig"]["path"] == "/etc/kubernetes/scheduler.conf"
    assert volumes["localtime"] == {"path": "/etc/localtime", "type": "File"}
    mounts = {each["name"]: each["mountPath"] for each in container()["volumeMounts"]}
    assert mounts["scheduler-config"] == FILE
