"""The kubeconfig of a `podium up` that has ended.

Such a cluster lives in one process, and its kubeconfig outlives it. `podium up` writes into it
which process it is and how it was started; whoever then finds nobody listening can say so.
"""

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from podium.golang.errors import InputError
from podium.golang.json_values import JsonObject
from podium.scheduler.config.kubeconfig import ClusterEntry

UP_EXTENSION: Final = "podium/up"
"""The extension of a kubeconfig's cluster that says whose it is: `process` and `command`."""


def describe_process(arguments: Sequence[str]) -> JsonObject:
    """This process, with the arguments that `podium` was started with."""
    return {"process": os.getpid(), "command": shlex.join(["podium", *arguments])}


def find_ended_process(cluster: ClusterEntry) -> InputError | None:
    """What to say where nobody listens; None if the file names no process, or it still runs."""
    for extension in cluster.extensions:
        found = extension.extension
        if extension.name == UP_EXTENSION and isinstance(found, dict):
            process, command = found.get("process"), found.get("command")
            if isinstance(process, int) and process > 0 and isinstance(command, str):
                return None if _runs(process) else _ended(process, command)
    return None


def _ended(process: int, command: str) -> InputError:
    return InputError(
        f"the cluster of this kubeconfig was `podium up`, process {process}, which has ended",
        remedy=f"start it again with `{command}`",
    )


def _runs(process: int) -> bool:
    with suppress(ProcessLookupError, OverflowError):
        try:
            os.kill(process, 0)
        except PermissionError:
            return True  # somebody else's
        return True
    return False
