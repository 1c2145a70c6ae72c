"""The commands that do in a terminal what a step of Play does.

The page puts in front of each what makes it reach this cluster.
"""

from itertools import count

from podium.scheduler.explain.proposals.shell import BY_DEFAULT
from podium.simulated.names import FAILURE

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
    return BY_DEFAULT.run("cordon", node)


def uncordon_command(node: str) -> str:
    return BY_DEFAULT.run("uncordon", node)


def drain_command(node: str) -> str:
    how = ("--ignore-daemonsets", "--delete-emptydir-data", "--force")
    return BY_DEFAULT.run("drain", node, options=how)


def kill_commands(node: str) -> list[str]:
    annotated = BY_DEFAULT.run(
        "annotate", "node", node, f"{FAILURE}=unreachable", options=_OVERWRITE
    )
    taint = f"{OUT_OF_SERVICE}=nodeshutdown:NoExecute"
    return [annotated, BY_DEFAULT.run("taint", "node", node, taint, options=_OVERWRITE)]


def revive_commands(node: str) -> list[str]:
    return [
        BY_DEFAULT.run("annotate", "node", node, f"{FAILURE}-"),
        BY_DEFAULT.run("taint", "node", node, f"{OUT_OF_SERVICE}:NoExecute-"),
    ]


def delete_command(kind: str, namespace: str, name: str) -> str:
    """`kind` as kubectl takes it."""
    return BY_DEFAULT.run(
        "delete", f"{kind}/{name}", options=("--wait=false",), namespace=namespace
    )


_OVERWRITE = ("--overwrite",)
