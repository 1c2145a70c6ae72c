"""`podium config`: what a scheduler configuration says, and whether it says it right."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import App, Parameter

from podium.api.errors import InputError
from podium.cli.config_view import (
    checked_document,
    effective_diff,
    effective_yaml,
    show_checked,
    show_points,
)
from podium.cli.exit_codes import BAD_INPUT, NO, OK
from podium.cli.feature_gate_flags import read_gates
from podium.cli.options import Gates, read_bytes
from podium.cli.tables import Screen, print_document
from podium.config.convert import to_v1
from podium.config.effective import effective
from podium.config.errors import ConfigurationError
from podium.config.examine import Examination, KnownPlugins, Mistake, examine
from podium.config.feature_gates import FeatureGates
from podium.config.points import ExtensionPoint
from podium.framework.points import serves
from podium.plugins import in_tree_registry

config = App(name="config", help="Check, show and convert scheduler configurations.")

DEFAULTS = b"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

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


@dataclass(frozen=True, slots=True)
class Checked:
    """One file and what was found in it; `readable` is False if it could not even be opened."""

    file: str
    found: Examination
    readable: bool = True


@config.command
def check(
    file: File,
    *more: Annotated[str, Parameter(name="more", help="Further files.")],
    output: TableOrJson = "table",
    feature_gates: Gates = None,
) -> int:
    """Tell whether configurations load, and everything that is wrong with those that do not.

    Each mistake comes with its place and with what would be right. `--output json` has an object
    for the file, or a list of them for several: whether it loads, the single errors, the message
    that kube-scheduler would exit with, the effective configuration, and the plugins that run at
    every extension point.

    Files that a configuration names, such as a kubeconfig, are not opened. Extenders are checked,
    but `podium simulate` does not call them yet.

    **Examples**

    ```
    podium config check scheduler.yaml
    podium config check configs/*.yaml
    podium config check scheduler.yaml -o json | jq '.errors'
    ```

    **Exit code** 0 if all load, 1 if some do not, 2 if a file cannot be read.
    """
    gates = read_gates(feature_gates)
    results = [_checked(path, gates) for path in (file, *more)]
    if output == "json":
        documents = [checked_document(result.file, result.found) for result in results]
        print_document(documents if more else documents[0], "json")
    else:
        show_checked(Screen(), [(result.file, result.found) for result in results])
    if not all(result.readable for result in results):
        return BAD_INPUT
    return OK if all(result.found.loads for result in results) else NO


@config.command
def show(
    file: OptionalFile = None,
    *,
    diff: Annotated[
        bool, Parameter(negative="", help="Only what differs from the defaults.")
    ] = False,
    feature_gates: Gates = None,
) -> int:
    """Print the effective configuration: everything filled in, as YAML that loads again.

    It is what kube-scheduler writes with --write-config-to.

    **Examples**

    ```
    podium config show scheduler.yaml
    podium config show scheduler.yaml --diff
    podium config show > defaults.yaml
    ```

    **Exit code** 0, or 2 if the file does not load.
    """
    gates = read_gates(feature_gates)
    found = _loaded(file, gates)
    assert found.effective is not None
    if diff:
        defaults = examine(DEFAULTS, known_plugins(), gates).effective
        assert defaults is not None
        print(effective_diff(defaults, found.effective, file or "defaults"), end="")
    else:
        print(effective_yaml(found.effective), end="")
    return OK


@config.command
def points(
    file: OptionalFile = None,
    *,
    output: TableOrJson = "table",
    feature_gates: Gates = None,
) -> int:
    """Show which plugins run at which extension point, in order, with their weights.

    **Examples**

    ```
    podium config points
    podium config points scheduler.yaml
    podium config points scheduler.yaml -o json
    ```

    **Exit code** 0, or 2 if the file does not load.
    """
    found = _loaded(file, read_gates(feature_gates))
    assert found.lists is not None
    if output == "json":
        print_document(found.expanded, "json")
    else:
        show_points(Screen(), found.lists)
    return OK


@config.command
def convert(
    file: File,
    *,
    feature_gates: Gates = None,
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
    found = _loaded(file, read_gates(feature_gates))
    assert found.configuration is not None
    conversion = to_v1(found.configuration)
    for text in conversion.changed:
        print(f"# changed: {text}")
    for text in conversion.lost:
        print(f"# lost: {text}")
    print(effective_yaml(effective(conversion.configuration)), end="")
    return NO if conversion.lost else OK


def known_plugins() -> KnownPlugins:
    """What the in-tree registry can tell."""
    registry = in_tree_registry()

    def implements(name: str, point: ExtensionPoint) -> bool:
        return name in registry and serves(registry.get(name), point.value)

    return KnownPlugins(tuple(registry), implements)


def _checked(path: str, gates: FeatureGates) -> Checked:
    try:
        data = read_bytes(path)
    except InputError as error:
        mistake = Mistake(error.problem)
        return Checked(path, Examination(message=error.problem, mistakes=(mistake,)), False)
    return Checked(path, examine(data, known_plugins(), gates))


def _loaded(path: str | None, gates: FeatureGates) -> Examination:
    """An examination that went well; anything else ends the command with all its mistakes."""
    found = examine(DEFAULTS if path is None else read_bytes(path), known_plugins(), gates)
    if not found.loads:
        remedies = (mistake.remedy for mistake in found.mistakes if mistake.remedy)
        raise ConfigurationError(found.message or "", source=path or "", remedy=next(remedies, ""))
    return found
