"""The options of `podium up` in groups: who schedules, what is served, the page, the terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from podium.commands.api_server_options import DataRecover, RuntimeConfigFlag
from podium.commands.options import (
    Config,
    Gates,
    PluginFiles,
    PluginTimeout,
    Reload,
    Strict,
    limit_plugins,
    read_configuration,
    warn_of_unworkable,
)
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.commands.processes.cluster_scheduler import PluginReload
    from podium.kubernetes.releases.feature_gates import FeatureGates
    from podium.user_code.plugins import Equipped

KUBECONFIG: Final = "podium.kubeconfig"


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class SchedulingOptions:
    """By which rules the scheduler decides, and what it tells."""

    config: Config = None
    plugin: PluginFiles = None
    plugin_timeout: PluginTimeout = "5s"
    reload: Reload = False
    feature_gates: Gates = None
    strict: Strict = False
    scheduler_port: Annotated[
        int,
        Parameter(
            show_default=False,
            help="The port on which the scheduler tells of itself: metrics, health, decisions."
            " [default: any free one, which is in the kubeconfig]",
        ),
    ] = 0
    verbosity: Annotated[
        int | None,
        Parameter(
            name=["--verbosity", "-v"],
            metavar="N",
            show_default=False,
            help="Write the scheduler's log to standard error, at this verbosity, as `podium run`"
            " does. [default: no log]",
        ),
    ] = None

    def read_equipped(self, gates: FeatureGates) -> Callable[[], Equipped]:
        """The configuration, and its plugins as their files are whenever that is called; plugins
        have their time from now on. Raises InputError."""
        from podium.scheduler.plugins import in_tree_registry
        from podium.user_code.plugins import equip

        configuration = read_configuration(self.config, gates, strict=self.strict)
        limit_plugins(self.plugin_timeout)
        return lambda: equip(configuration, in_tree_registry(), self.plugin or ())

    def warn_of_unworkable(self, equipped: Equipped) -> None:
        warn_of_unworkable(equipped, self.config or "")

    def watch_plugins(
        self, equipped: Callable[[], Equipped], tell: Callable[[str], None]
    ) -> PluginReload | None:
        """What looks at the files of plugins, if that is wanted. Raises InputError."""
        from podium.commands.processes.cluster_scheduler import PluginReload
        from podium.commands.processes.plugin_reloading import WatchedPluginFiles

        if not self.reload:
            return None
        if not self.plugin:
            remedy = "name the file of a plugin: --plugin mine.py --reload"
            raise InputError("--reload has nothing to look at", remedy=remedy)
        return PluginReload(WatchedPluginFiles(self.plugin), equipped, tell)


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class ServingOptions:
    """Where the API is served, and where objects are kept."""

    host: Annotated[str, Parameter(help="The address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Parameter(help="The port to listen on; 0 for any free one.")] = 6443
    runtime_config: RuntimeConfigFlag = None
    data: Annotated[
        Path | None,
        Parameter(
            metavar="DIR",
            show_default=False,
            help="Keep objects, certificates and token here. [default: in memory only]",
        ),
    ] = None
    data_recover: DataRecover = False
    kubeconfig_out: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            show_default=False,
            help=f"Where to write the kubeconfig. [default: {KUBECONFIG}, or kubeconfig in DIR]",
        ),
    ] = None

    @property
    def kubeconfig(self) -> Path:
        return self.kubeconfig_out or (self.data / "kubeconfig" if self.data else Path(KUBECONFIG))


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class PageOptions:
    """The page that shows the cluster in a browser."""

    page_port: Annotated[
        int,
        Parameter(
            show_default=False,
            help="The loopback port of the page that shows the cluster in a browser."
            " [default: any free one, in the link that is printed]",
        ),
    ] = 0
    page: Annotated[
        bool,
        Parameter(
            name=["--page"],
            negative="--no-page",
            show_default=False,
            help="Serve the page. [default: yes]",
        ),
    ] = True
    play: Annotated[
        bool,
        Parameter(
            name=["--play"],
            negative="--no-play",
            show_default=False,
            help="Let the page change the cluster: its view Play. Without it the page can only be"
            " read. [default: yes]",
        ),
    ] = True


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class TerminalOptions:
    """What is printed while the cluster is up."""

    watch: Annotated[
        bool,
        Parameter(
            name=["--watch", "-w"],
            negative="",
            show_default=False,
            help="On a terminal, draw the nodes as they fill up.",
        ),
    ] = False
    quiet: Annotated[
        bool,
        Parameter(
            name=["--quiet", "-q"],
            negative="",
            show_default=False,
            help="Print no decisions and no status.",
        ),
    ] = False


AS_CONFIGURED: Final = SchedulingOptions()
ON_LOOPBACK: Final = ServingOptions()
WITH_PAGE: Final = PageOptions()
TELLING: Final = TerminalOptions()
