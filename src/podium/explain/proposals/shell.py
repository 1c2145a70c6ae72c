"""kubectl command lines, written so that a shell reads every name as the one word that it is.

Objects are named as `kind/name` and options as `--option=value`; an argument that looks like an
option all the same comes after `--`. JSON goes in as one quoted word. Contract: what comes out is
one command, or one comment, for a POSIX shell, whatever is in the names.
"""

import shlex

import msgspec

from podium.api.go_quoting import escape_unprintable
from podium.api.json_values import JsonValue


def kubectl(verb: str, *arguments: str, options: tuple[str, ...] = (), namespace: str = "") -> str:
    """One command; `namespace` is given for objects that have one."""
    flags = (*options, f"--namespace={namespace}") if namespace else options
    if any(argument.startswith("-") for argument in arguments):
        return shlex.join(("kubectl", verb, *flags, "--", *arguments))
    return shlex.join(("kubectl", verb, *arguments, *flags))


def comment(text: str) -> str:
    """A line for people; whatever is in it, it stays one line."""
    return f"# {escape_unprintable(text)}"


def patch(target: str, change: JsonValue, *, namespace: str = "", kind: str = "strategic") -> str:
    options = (f"--type={kind}", f"--patch={to_json(change)}")
    return kubectl("patch", target, options=options, namespace=namespace)


def replace_with(
    target: str, change: JsonValue, *, namespace: str = "", kind: str = "strategic"
) -> str:
    """Make an object anew with a change that cannot be made in place."""
    local = ("--local", "--filename=-", f"--type={kind}", f"--patch={to_json(change)}")
    return " | ".join(
        (
            kubectl("get", target, options=("--output=json",), namespace=namespace),
            kubectl("patch", options=(*local, "--output=json")),
            kubectl("replace", options=("--force", "--filename=-")),
        )
    )


def create(body: JsonValue) -> str:
    return f"printf %s {shlex.quote(to_json(body))} | kubectl create --filename=-"


def to_json(value: JsonValue) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
