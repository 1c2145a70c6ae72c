"""`podium plugin`: start a plugin of one's own, try it out, and see which there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Group, Parameter

from podium.commands.answering import Answer, answers
from podium.commands.config import PRINTED
from podium.commands.exit_codes import OK
from podium.commands.options import (
    Config,
    Filename,
    PluginTimeout,
    limit_plugins,
    read_configuration,
    read_scenario,
)
from podium.commands.plugin_scaffold import Form
from podium.commands.printing import print_line
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.commands.plugin_view import KnownPlugin
    from podium.scheduler.framework.registry import PluginRegistry


plugin = App(
    name="plugin",
    help="Write, try out and list plugins.",
    group_commands=Group("Commands"),
)

Given = Annotated[
    str, Parameter(help="The plugin: FILE.py, FILE.py:Class or package.module:Class.")
]


@plugin.command
def new(
    name: Annotated[str, Parameter(help="What the plugin is called, as classes are: ZonePrice.")],
    *,
    form: Annotated[
        Form,
        Parameter(
            name=["--form"],
            help="What it begins with: a filter or a score for one node at a time, both, or the"
            " vector form for all nodes at once.",
        ),
    ] = "both",
    directory: Annotated[
        Path, Parameter(name=["--directory", "-d"], metavar="DIR", help="Where to write the files.")
    ] = Path(),
) -> int:
    """Write a plugin that works, a test for it and a configuration that switches it on.

    Nothing that is there already is written over.

    **Examples**

    ```
    podium plugin new ZonePrice
    podium plugin new PodDensity --form vector --directory plugins
    ```
    """
    from podium.commands.plugin_scaffold import make_scaffold
    from podium.scheduler.plugins import in_tree_registry
    from podium.user_code.plugins import all_plugins

    taken = all_plugins(in_tree_registry(), ())
    code, test, configuration = make_scaffold(name, form, taken).write(directory)
    print_line(f"{code}: the plugin")
    print_line(f"{test}: its test")
    print_line(f"{configuration}: a configuration with it")
    print_line("")
    print_line("next:")
    print_line(f"  podium plugin test {code}")
    print_line(f"  python -m pytest {test}")
    print_line(f"  podium up --config {configuration} --plugin {code} --reload")
    return OK


@plugin.command(name="test")
@answers("plugin test", PRINTED)
def try_out(
    file: Given,
    *,
    args: Annotated[
        str | None,
        Parameter(
            name=["--args"],
            metavar="YAML",
            help="The plugin's arguments, as YAML or JSON on one line.",
        ),
    ] = None,
    config: Config = None,
    plugin_timeout: PluginTimeout = "5s",
    filename: Filename = None,
) -> Answer:
    """Check the promises that a plugin makes, and show what it says of pods on a cluster.

    The promises are those that the framework builds on: the same question gets the same answer, an
    answer for some nodes is part of the answer for all, and what the plugin says its answers depend
    on is all that they depend on. They are tried on clusters made from seeds, and on the nodes and
    pods of `-f`. Without `-f` the plugin is asked about a small example cluster. Arguments come
    from `--args`, or from the configuration's first profile that has some for the plugin.

    **Examples**

    ```
    podium plugin test examples/plugins/pod_density.py --args '{most: 3}'
    podium plugin test zone_price.py --config scheduler.yaml -f cluster.yaml -f pods.yaml
    podium plugin test zone_price.py -o json | jq '.broken'
    ```

    **Exit code** 0 if all promises are kept, 1 if one is broken, 2 if the plugin cannot be loaded.
    """
    from podium.commands.plugin_trial import TrialCluster, try_plugin
    from podium.commands.plugin_view import PluginTrialView
    from podium.kubernetes.releases.feature_gates import FeatureGates
    from podium.user_code.plugins import load_plugin

    limit_plugins(plugin_timeout)
    found = load_plugin(file)
    cluster = None
    if filename:
        scenario = read_scenario(filename, "strict", gates=FeatureGates())
        cluster = TrialCluster(scenario.nodes, scenario.running, scenario.pending, scenario.objects)
    return PluginTrialView(try_plugin(found, _arguments(found.name, args, config), cluster))


@plugin.command(name="list")
@answers("plugin list", PRINTED)
def list_plugins(
    *,
    plugin: Annotated[
        list[str] | None,
        Parameter(
            name=["--plugin"],
            negative="",
            metavar="FILE.py[:Class]",
            help="A plugin of your own to list too. May be repeated.",
        ),
    ] = None,
) -> Answer:
    """List the plugins that a configuration can name, where they come from and where they run.

    **Examples**

    ```
    podium plugin list
    podium plugin list -o json | jq -r '.items[] | select(.points | index("score")) | .name'
    ```
    """
    from podium.commands.plugin_view import KnownPluginsView

    return KnownPluginsView(_known(tuple(plugin or ())))


def _arguments(name: str, args: str | None, config: str | None) -> dict[str, Any] | None:
    import yaml

    from podium.scheduler.config.plugin_args import RawArgs

    if args is not None:
        try:
            read = yaml.safe_load(args)
        except yaml.YAMLError as problem:
            raise InputError(f"--args is not YAML: {str(problem).splitlines()[0]}") from None
        if not isinstance(read, dict):
            raise InputError("--args must be a map", remedy="write it as '{limit: 3}'")
        return {str(key): value for key, value in read.items()}
    from podium.kubernetes.releases.feature_gates import FeatureGates

    for profile in read_configuration(config, FeatureGates()).profiles if config else ():
        found = profile.plugin_args.get(name)
        if isinstance(found, RawArgs) and isinstance(found.value, dict):
            return dict(found.value)
    return None


def _known(given: tuple[str, ...]) -> list[KnownPlugin]:
    from podium.commands.plugin_view import KnownPlugin
    from podium.kubernetes.releases.feature_gates import FeatureGates
    from podium.scheduler.framework.points import POINTS
    from podium.scheduler.plugins import in_tree_registry
    from podium.user_code.plugins import all_plugins, load_plugin
    from podium.user_code.shipped import SHIPPED_PLUGINS

    in_tree = in_tree_registry()
    registry: PluginRegistry = all_plugins(in_tree, given)
    on = {
        name
        for profile in read_configuration(None, FeatureGates()).profiles
        for name in profile.plugins.enabled_names()
    }
    own = {load_plugin(spec).name: spec for spec in given}

    def origin(name: str) -> str:
        if name in own:
            return own[name]
        if name in in_tree:
            return "kube-scheduler"
        return "scheduler-plugins" if name in SHIPPED_PLUGINS else "package"

    served = {
        name: [point for point in POINTS if _serves(registry, name, point)] for name in registry
    }
    return [KnownPlugin(name, origin(name), served[name], name in on) for name in registry]


def _serves(registry: PluginRegistry, name: str, point: str) -> bool:
    from podium.scheduler.framework.points import POINTS

    return issubclass(registry.get(name), POINTS[point])
