"""kubectl command lines, written so that a shell reads every name as the one word that it is.

Objects are named as `kind/name` and options as `--option=value`; an argument that looks like an
option all the same comes after `--`. JSON goes in as one quoted word. Every command names the
cluster that the question was about, so that a line that is pasted into another shell does not go to
whatever cluster is the default there. Contract: what comes out is one command, or one comment, for
a POSIX shell, whatever is in the names.
"""

import shlex
from dataclasses import dataclass
from typing import Final

import msgspec

from podium.golang.json_values import JsonValue
from podium.golang.quoting import escape_unprintable


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl for one cluster: the one of a kubeconfig and a context, "" for its defaults."""

    kubeconfig: str = ""
    context: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """What every command begins with."""
        kubeconfig = (f"--kubeconfig={self.kubeconfig}",) if self.kubeconfig else ()
        context = (f"--context={self.context}",) if self.context else ()
        return ("kubectl", *kubeconfig, *context)

    def run(
        self, verb: str, *arguments: str, options: tuple[str, ...] = (), namespace: str = ""
    ) -> str:
        """One command; `namespace` is given for objects that have one."""
        flags = (*options, f"--namespace={namespace}") if namespace else options
        if any(argument.startswith("-") for argument in arguments):
            return shlex.join((*self.words, verb, *flags, "--", *arguments))
        return shlex.join((*self.words, verb, *arguments, *flags))

    def patch(
        self, target: str, change: JsonValue, *, namespace: str = "", kind: str = "strategic"
    ) -> str:
        options = (f"--type={kind}", f"--patch={to_json(change)}")
        return self.run("patch", target, options=options, namespace=namespace)

    def replace_with(
        self, target: str, change: JsonValue, *, namespace: str = "", kind: str = "strategic"
    ) -> str:
        """Delete an object and create it with a change that cannot be made in place."""
        local = ("--local", "--filename=-", f"--type={kind}", f"--patch={to_json(change)}")
        return " | ".join(
            (
                self.run("get", target, options=("--output=json",), namespace=namespace),
                self.run("patch", options=(*local, "--output=json")),
                self.run("replace", options=("--force", "--filename=-")),
            )
        )

    def create(self, body: JsonValue) -> str:
        made = self.run("create", options=("--filename=-",))
        return f"printf %s {shlex.quote(to_json(body))} | {made}"


BY_DEFAULT: Final = Kubectl()
"""For the cluster that kubectl speaks to by itself."""


def comment(text: str) -> str:
    """A line for people; whatever is in it, it stays one line."""
    return f"# {escape_unprintable(text)}"


def to_json(value: JsonValue) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
