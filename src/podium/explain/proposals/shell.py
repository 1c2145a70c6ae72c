"""kubectl command lines, written so that a shell reads every name as the one word that it is.

Objects are named as `kind/name`, so that no name can be taken for a flag, and options as
`--option=value`. JSON goes in as one quoted word. Contract: what comes out can be pasted into a
POSIX shell, whatever is in the names.
"""

import shlex

import msgspec

from podium.api.json_values import JsonValue


def kubectl(*words: str, namespace: str = "") -> str:
    """One command; `namespace` is given for objects that have one."""
    scope = (f"--namespace={namespace}",) if namespace else ()
    return shlex.join(("kubectl", *words, *scope))


def patch(target: str, change: JsonValue, *, namespace: str = "", kind: str = "strategic") -> str:
    return kubectl(
        "patch", target, f"--type={kind}", f"--patch={to_json(change)}", namespace=namespace
    )


def replace_with(
    target: str, change: JsonValue, *, namespace: str = "", kind: str = "strategic"
) -> str:
    """Make an object anew with a change that cannot be made in place."""
    return " | ".join(
        (
            kubectl("get", target, "--output=json", namespace=namespace),
            kubectl(
                "patch",
                "--local",
                "--filename=-",
                f"--type={kind}",
                f"--patch={to_json(change)}",
                "--output=json",
            ),
            kubectl("replace", "--force", "--filename=-"),
        )
    )


def create(body: JsonValue) -> str:
    return f"printf %s {shlex.quote(to_json(body))} | kubectl create --filename=-"


def to_json(value: JsonValue) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
