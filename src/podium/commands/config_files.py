"""Configuration files as `podium config` looks at them: what is in a file, and what it comes to.

A file is judged as it would be by a scheduler that starts here: with these feature gates, with the
plugins that the user brings along, and, if asked for, with the files that it names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from podium.commands.options import print_findings
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.kubernetes.releases.feature_gates import FeatureGates
    from podium.scheduler.config.examine import Equipment, Examination, KnownPlugins
    from podium.scheduler.config.types import Configuration
    from podium.scheduler.framework.registry import PluginRegistry


NamedFiles = Annotated[
    Literal["none", "certificates", "all"],
    Parameter(
        name=["--files"],
        help="Which of the files that a configuration names are opened: the certificates of "
        "extenders, all (the kubeconfig too), or none.",
    ),
]


@dataclass(frozen=True, slots=True)
class Checked:
    """One file and what was found in it; `readable` is False if it could not even be opened."""

    file: str
    found: Examination
    readable: bool = True


@dataclass(frozen=True, slots=True)
class FileJudge:
    """Who looks at files, and by what."""

    gates: FeatureGates
    plugins: tuple[str, ...] = ()
    files: str = "none"
    strict: bool = False

    def check(self, path: str) -> Checked:
        from podium.net.files.bounded_files import read_input
        from podium.scheduler.config.examine import ConfigurationMistake, Examination

        try:
            data = read_input(path)
        except InputError as error:
            mistake = ConfigurationMistake(error.problem)
            return Checked(path, Examination(message=error.problem, mistakes=(mistake,)), False)
        return Checked(path, self.examine(data))

    def load(self, path: str | None) -> Examination:
        """An examination that went well, of the defaults if there is no file."""
        from podium.net.files.bounded_files import read_input
        from podium.scheduler.config.errors import ConfigurationError

        found = self.defaults() if path is None else self.examine(read_input(path))
        if not found.loads:
            remedies = (mistake.remedy for mistake in found.mistakes if mistake.remedy)
            raise ConfigurationError(
                found.message or "",
                source=path or "",
                remedy=next(remedies, "") or _all_at_once(path, found),
            )
        print_findings(found.findings, path or "")
        return found

    def defaults(self, api_version: str = "") -> Examination:
        """What a file of some version says that says nothing."""
        from podium.scheduler.config.types import API_VERSION, KIND

        version = api_version or API_VERSION
        return self.examine(f"apiVersion: {version}\nkind: {KIND}\n".encode())

    def examine(self, data: bytes) -> Examination:
        from podium.user_code.plugins import all_plugins

        found = self._examine(data, _in_tree_registry())
        if found.loads:
            return found
        # Only what is wrong is told with all plugins at hand: most files name none of them.
        return self._examine(data, all_plugins(_in_tree_registry(), self.plugins))

    def _examine(self, data: bytes, registry: PluginRegistry) -> Examination:
        from podium.scheduler.config.examine import examine

        return examine(
            data,
            _known(registry),
            self.gates,
            prepare=self._open_files,
            equip=self._equip,
            takes_old=not self.strict,
        )

    def _equip(self, configuration: Configuration) -> Equipment:
        from podium.scheduler.config.examine import Equipment
        from podium.user_code.plugins import equip

        equipped = equip(configuration, _in_tree_registry(), self.plugins)
        if equipped.registry is _in_tree_registry():
            return Equipment(configuration, _known(equipped.registry))
        return Equipment(
            equipped.configuration,
            _known(equipped.registry),
            equipped.notes,
            partial(_check_arguments, equipped.configuration, equipped.registry),
        )

    def _open_files(self, configuration: Configuration) -> None:
        """Raises ConfigurationError."""
        from podium.client.extenders.tls import tls_clients
        from podium.commands.processes.host_environment import LocalHost
        from podium.scheduler.config.buildable import certificates_problem
        from podium.scheduler.config.errors import ConfigurationError, FieldProblem
        from podium.scheduler.config.flags.client_settings import StartRefused, client_settings

        if self.files == "all":
            kubeconfig = configuration.client_connection.kubeconfig
            try:
                client_settings(kubeconfig, "", LocalHost(), lambda _warning: None)
            except StartRefused as problem:
                at = FieldProblem("clientConnection.kubeconfig", str(problem))
                raise ConfigurationError(str(problem), (at,)) from None
        refusal = certificates_problem(configuration)
        if refusal is not None:
            raise refusal
        if self.files != "none":
            tls_clients(configuration.extenders)


def _known(registry: PluginRegistry) -> KnownPlugins:
    """What a registry can tell."""
    from podium.scheduler.config.examine import KnownPlugins

    return KnownPlugins(tuple(registry), registry.implements, registry.builds_on)


@cache
def _in_tree_registry() -> PluginRegistry:
    from podium.scheduler.plugins import in_tree_registry

    return in_tree_registry()


def _check_arguments(configuration: Configuration, registry: PluginRegistry) -> None:
    """Refuse arguments that plugins of the user's own would refuse."""
    from podium.scheduler.config.errors import ConfigurationError, FieldProblem
    from podium.scheduler.config.plugin_args import RawArgs
    from podium.scheduler.framework.registry import ArgumentsError, arguments_of

    for i, profile in enumerate(configuration.profiles):
        in_use = profile.plugins.enabled_names()
        for j, (name, args) in enumerate(profile.plugin_args.items()):
            own = isinstance(args, RawArgs) and name in in_use and name in registry
            if not own or name in _in_tree_registry():
                continue
            try:
                arguments_of(registry.get(name), args)
            except ArgumentsError as problem:
                at = f"profiles[{i}].pluginConfig[{j}].{problem.path}"
                found = FieldProblem(at, f"{problem.problem} (plugin {name})", problem.remedy)
                raise ConfigurationError(str(found), (found,)) from None


def _all_at_once(path: str | None, found: Examination) -> str:
    if path is None or path == "-" or len(found.mistakes) < 2:
        return ""
    return f"podium config check {path} tells all {len(found.mistakes)} problems"
