"""`podium dump-command`: how a cluster gets into a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from podium.commands.exit_codes import OK
from podium.commands.options import Config, PluginFiles, read_configuration
from podium.commands.printing import print_line

if TYPE_CHECKING:
    from podium.scheduler.framework.events import WatchedKind


def dump_command(
    *,
    config: Config = None,
    plugin: PluginFiles = None,
    all_plugins: Annotated[
        bool,
        Parameter(
            name=["--all-plugins"],
            negative="",
            show_default=False,
            help="Ask for the custom kinds of all plugins that a configuration could name.",
        ),
    ] = False,
    output: Annotated[
        Literal["text", "json"], Parameter(name=["--output", "-o"], help="What to print.")
    ] = "text",
) -> int:
    """Print the command that writes everything scheduling reads of a cluster into cluster.json.

    It is one line of kubectl for a POSIX shell. Collections that the server does not have, or that
    you may not list, are named on standard error and left out; the rest is still written. The file
    also says of which kinds there are no objects, so that `podium simulate` can tell you when
    something is missing. `-o json` has the command and the paths.

    Custom kinds (PodGroup, ElasticQuota, ...) are among them if plugins of the configuration read
    them, or all that Podium's plugins know with `--all-plugins`. Give `podium simulate` the same
    configuration, which makes it read them again.

    **Examples**

    ```
    podium dump-command
    podium dump-command | sh
    podium dump-command --config scheduler.yaml | sh
    podium simulate -f cluster.json -f my-deployment.yaml
    ```

    **Exit code** 0.
    """
    from podium.offline.simulate.read_kinds import DumpCommand

    found = DumpCommand.of(_watched_kinds(config, plugin or (), all_plugins))
    if output == "json":
        from podium.commands.documents import print_struct

        print_struct(found, "json")
    else:
        print_line(found.command)
    return OK


def _watched_kinds(
    config: str | None, plugins: Sequence[str], of_all: bool
) -> tuple[WatchedKind, ...]:
    from podium.scheduler.framework.events import unique_kinds

    if config is None and not plugins and not of_all:
        return ()
    # Here and not above, because it brings all plugins with it.
    from podium.kubernetes.releases.feature_gates import FeatureGates
    from podium.scheduler.plugins import in_tree_registry
    from podium.user_code.plugins import all_plugins, equip

    found = equip(
        read_configuration(config, FeatureGates()), in_tree_registry(), plugins
    ).watched_kinds
    if of_all:
        registry = all_plugins(in_tree_registry(), plugins)
        every = (kind for name in registry for kind in registry.get(name).watched_kinds)
        found = unique_kinds((*found, *every))
    return found
