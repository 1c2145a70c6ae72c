"""`podium config`: what a scheduler configuration says, and whether it says it right."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from cyclopts import App, Group, Parameter

from podium.commands.answering import Answer, PrintOptions, answers
from podium.commands.config_files import NamedFiles
from podium.commands.exit_codes import NO, OK
from podium.commands.options import Gates, PluginFiles, Strict
from podium.commands.printing import print_lines

config = App(
    name="config",
    help="Check, show and convert scheduler configurations.",
    group_commands=Group("Commands"),
)

File = Annotated[
    str, Parameter(allow_leading_hyphen=True, help="A configuration, or - for standard input.")
]
OptionalFile = Annotated[
    str | None,
    Parameter(
        allow_leading_hyphen=True,
        help="A configuration, or - for standard input. Left out: the defaults.",
    ),
]

TableOrJson = Annotated[
    Literal["table", "json"], Parameter(name=["--output", "-o"], help="What to print.")
]


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class ConfigPrintOptions(PrintOptions):
    """How an answer is given that comes as a table or as JSON."""

    output: TableOrJson = "table"


PRINTED: Final = ConfigPrintOptions()


@config.command
@answers("config check", PRINTED)
def check(
    file: File,
    *more: Annotated[str, Parameter(name="more", help="Further files.")],
    files: NamedFiles = "certificates",
    feature_gates: Gates = None,
    plugin: PluginFiles = None,
    strict: Strict = False,
) -> Answer:
    """Tell whether configurations load, and everything that is wrong with those that do not.

    Each mistake comes with its place and with what would be right; so does what loads and should
    be written differently: names of earlier releases, which `--strict` makes mistakes, and plugins
    that cannot work as they are listed. `--output json` has a document
    for the file, or a list of them for several: whether it loads, the message that kube-scheduler
    would exit with, the effective configuration, and the plugins that run at every extension point.
    Extenders are not called.

    **Examples**

    ```
    podium config check scheduler.yaml
    podium config check configs/*.yaml
    podium config check scheduler.yaml -o json | jq '.errors'
    podium config check scheduler.yaml --plugin my_plugin.py
    podium config check /etc/kubernetes/scheduler.yaml --files all
    ```

    **Exit code** 0 if all load, 1 if some do not, 2 if a file cannot be read.
    """
    from podium.commands.config_files import FileJudge
    from podium.commands.config_view import CheckView
    from podium.commands.feature_gate_flags import read_gates

    gates = read_gates(feature_gates, strict=strict)
    judge = FileJudge(gates, tuple(plugin or ()), files, strict)
    results = [judge.check(path) for path in (file, *more)]
    return CheckView(results, is_list=bool(more))


@config.command
def show(
    file: OptionalFile = None,
    *,
    diff: Annotated[
        bool, Parameter(negative="", help="Only what differs from the defaults.")
    ] = False,
    feature_gates: Gates = None,
    plugin: PluginFiles = None,
) -> int:
    """Print the effective configuration: everything filled in, as YAML that loads again.

    It is what kube-scheduler writes with --write-config-to. With `--diff`, a line for each value
    that is not what a file of the same version without content would have.

    **Examples**

    ```
    podium config show scheduler.yaml
    podium config show scheduler.yaml --diff
    podium config show > defaults.yaml
    ```

    **Exit code** 0, or 2 if the file does not load.
    """
    from podium.commands.config_files import FileJudge
    from podium.commands.feature_gate_flags import read_gates
    from podium.scheduler.config.effective import effective_diff

    judge = FileJudge(read_gates(feature_gates), tuple(plugin or ()))
    found = judge.load(file)
    assert found.configuration is not None
    assert found.effective is not None
    if diff:
        plain = FileJudge(judge.gates)
        defaults = plain.defaults(found.configuration.api_version).effective
        assert defaults is not None
        print_lines(effective_diff(defaults, found.effective))
    else:
        _print_yaml(found.effective)
    return OK


@config.command
@answers("config points", PRINTED)
def points(
    file: OptionalFile = None,
    *,
    feature_gates: Gates = None,
    plugin: PluginFiles = None,
) -> Answer:
    """Show which plugins run at which extension point, in order, with their weights.

    **Examples**

    ```
    podium config points
    podium config points scheduler.yaml
    podium config points scheduler.yaml -o json
    podium config points --plugin my_plugin.py
    ```

    **Exit code** 0, or 2 if the file does not load.
    """
    from podium.commands.config_files import FileJudge
    from podium.commands.config_view import PointsView
    from podium.commands.feature_gate_flags import read_gates

    found = FileJudge(read_gates(feature_gates), tuple(plugin or ())).load(file)
    assert found.lists is not None
    return PointsView(found.lists)


@config.command
def convert(
    file: File,
    *,
    feature_gates: Gates = None,
    plugin: PluginFiles = None,
) -> int:
    """Say a configuration of an older version in v1.

    Comments at the top tell what is said differently, and what v1 cannot say and is lost.

    **Examples**

    ```
    podium config convert old.yaml > scheduler.yaml
    podium config convert policy.json
    ```

    **Exit code** 0, 1 if something is lost, 2 if the file does not load.
    """
    from podium.commands.config_files import FileJudge
    from podium.commands.feature_gate_flags import read_gates
    from podium.scheduler.config.effective import effective
    from podium.scheduler.config.versions import to_v1

    found = FileJudge(read_gates(feature_gates), tuple(plugin or ())).load(file)
    assert found.configuration is not None
    conversion = to_v1(found.configuration)
    print_lines(f"# changed: {text}" for text in conversion.changed)
    print_lines(f"# lost: {text}" for text in conversion.lost)
    _print_yaml(effective(conversion.configuration))
    return NO if conversion.lost else OK


def _print_yaml(document: Mapping[str, Any]) -> None:
    from podium.scheduler.config.effective import effective_yaml

    print_lines(effective_yaml(document).removesuffix("\n").split("\n"))
