"""A small cluster for the configurations that articles print: its nodes, pods, and own code.

Schedulers run in a directory that stands for `/etc/kubernetes`; `DIR` in a flag means it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.apiserver.apiserver_process import RunningServer
from support.e2e.scheduler_process import SchedulerProcess, running_scheduler
from support.waiting import wait_until

PODS = "/api/v1/namespaces/default/pods"
NODES = ("n1", "n2", "n3")

OWN_PLUGINS = """\
from podium.plugin import NodeFilterPlugin, NodeScorePlugin, PreFilterPlugin, PreScorePlugin


class MyPlugin(PreFilterPlugin, NodeFilterPlugin, PreScorePlugin, NodeScorePlugin):
    name = "MyPlugin"

    def pre_filter(self, cycle):
        return None

    def filter_node(self, pod, node):
        return None

    def pre_score(self, cycle, rows):
        return None

    def score_node(self, pod, node):
        return 100 if node.name == "n2" else 0


class MyPlugin1(NodeFilterPlugin):
    name = "MyPlugin1"

    def filter_node(self, pod, node):
        return "not here" if node.name == "n1" else None
"""
OWN_EXTENDER = """\
from podium.addons.extenders import Extender


class OnlyThird(Extender):
    def filter(self, pod, nodes):
        return {node.metadata.name: "no" for node in nodes if node.metadata.name == "n1"}

    def prioritize(self, pod, nodes):
        return {"n3": 10}
"""


def node(name: str) -> dict[str, Any]:
    status = {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": status,
    }


@contextmanager
def kube_scheduler(
    here: Path, *flags: str, port: str = "--secure-port=0"
) -> Iterator[SchedulerProcess]:
    """`podium run` in the place of kube-scheduler, ended politely."""
    as_here = (flag.replace("DIR", str(here)) for flag in flags)
    with running_scheduler(here, *as_here, port) as process:
        yield process
        assert process.stopped() == 0, process.said


def create(server: RunningServer, name: str, **spec: Any) -> None:
    labels = spec.pop("labels", {})
    metadata = {"name": name, "labels": labels}
    whole = {"containers": [{"name": "c", "image": "nginx"}], **spec}
    status, told = server.ask("POST", PODS, {"metadata": metadata, "spec": whole})
    assert status == 201, told


def node_of(server: RunningServer, name: str) -> str:
    return str(server.ask("GET", f"{PODS}/{name}")[1]["spec"].get("nodeName", ""))


def placed(server: RunningServer, name: str, **spec: Any) -> str:
    """The node that a new pod gets."""
    create(server, name, **spec)
    return str(wait_until(lambda: node_of(server, name)))
