"""The options of every command that simulates: what goes in, and by which rules it is decided."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from cyclopts import Parameter

from podium.cli.cluster_options import FILES_ONLY, ClusterOptions
from podium.cli.options import (
    Config,
    Filename,
    Gates,
    PluginFiles,
    PluginTimeout,
    Seed,
    Strict,
    Validate,
    ValidationMode,
)


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class InputOptions:
    """Without a configuration, for commands that take several."""

    filename: Filename = None
    cluster: ClusterOptions = FILES_ONLY
    plugin: PluginFiles = None
    plugin_timeout: PluginTimeout = "5s"
    feature_gates: Gates = None
    seed: Seed = 0
    validation: ValidationMode = "strict"
    strict: Strict = False
    validate: Validate = False

    def files(self, more: Iterable[str] = ()) -> list[str]:
        """All files that were named, with -f or without."""
        return [*(self.filename or ()), *more]


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class SimulationOptions(InputOptions):
    config: Config = None


BY_DEFAULT: Final = SimulationOptions()


def as_simulation_options(options: InputOptions) -> SimulationOptions:
    """The same without a configuration."""
    return SimulationOptions(
        **{each.name: getattr(options, each.name) for each in dataclasses.fields(options)}
    )
