"""`podium dump-command`: how a cluster gets into a file."""

from typing import Annotated, Literal

from cyclopts import Parameter

from podium.cli.documents import print_document
from podium.cli.exit_codes import OK
from podium.cli.printing import print_line
from podium.simulator.cluster_dump import dump_command as command_line
from podium.simulator.read_kinds import READ


def dump_command(
    *,
    output: Annotated[
        Literal["text", "json"], Parameter(name=["--output", "-o"], help="What to print.")
    ] = "text",
) -> int:
    """Print the command that writes everything scheduling reads of a cluster into cluster.json.

    It is one line of kubectl for a POSIX shell. Collections that the server does not have, or that
    you may not list, are named on standard error and left out; the rest is still written. The file
    also says of which kinds there are no objects, so that `podium simulate` can tell you when
    something is missing. `-o json` has the command and the paths.

    **Examples**

    ```
    podium dump-command
    podium dump-command | sh
    podium simulate -f cluster.json -f my-deployment.yaml
    ```

    **Exit code** 0.
    """
    if output == "json":
        kinds = [
            {"apiVersion": each.api_version, "kind": each.kind, "path": each.path()}
            for each in READ
        ]
        print_document("DumpCommand", {"command": command_line(), "kinds": kinds}, "json")
    else:
        print_line(command_line())
    return OK
