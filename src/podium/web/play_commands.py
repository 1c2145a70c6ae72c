"""The commands that do in a terminal what a step of Play does."""

from itertools import count

from podium.explain.proposals.shell import Kubectl
from podium.simulated_cluster.names import FAILURE

_KUBECTL = Kubectl()
"""The page puts in front of each command what makes it reach this cluster."""
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
"""The taint by which administrators say that a node is gone: its pods leave it at once."""


def create_command(text: str) -> str:
    return f"kubectl create --filename=- {here_document(text)}"


def write_command(text: str, file: str) -> str:
    """What writes a file."""
    return f"cat >{file} {here_document(text)}"


def here_document(text: str) -> str:
    """The text as input of a command, taken literally by every POSIX shell."""
    lines = text.splitlines()
    names = ("EOF" if not number else f"EOF{number}" for number in count())
    end = next(name for name in names if name not in lines)
    return "\n".join((f"<<'{end}'", *lines, end))


def cordon_command(node: str) -> str:
    return _KUBECTL.run("cordon", node)


def uncordon_command(node: str) -> str:
    return _KUBECTL.run("uncordon", node)


def drain_command(node: str) -> str:
    how = ("--ignore-daemonsets", "--delete-emptydir-data", "--force")
    return _KUBECTL.run("drain", node, options=how)


def kill_commands(node: str) -> list[str]:
    annotated = _KUBECTL.run("annotate", "node", node, f"{FAILURE}=unreachable", options=_OVERWRITE)
    taint = f"{OUT_OF_SERVICE}=nodeshutdown:NoExecute"
    return [annotated, _KUBECTL.run("taint", "node", node, taint, options=_OVERWRITE)]


def revive_commands(node: str) -> list[str]:
    return [
        _KUBECTL.run("annotate", "node", node, f"{FAILURE}-"),
        _KUBECTL.run("taint", "node", node, f"{OUT_OF_SERVICE}:NoExecute-"),
    ]


def delete_command(kind: str, namespace: str, name: str) -> str:
    """`kind` as kubectl takes it."""
    return _KUBECTL.run("delete", f"{kind}/{name}", options=("--wait=false",), namespace=namespace)


_OVERWRITE = ("--overwrite",)
