"""The options of every command that simulates: what goes in, and by which rules it is decided."""

import dataclasses
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from cyclopts import Parameter

from podium.commands.cluster_options import FILES_ONLY, ClusterOptions
from podium.commands.options import (
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
from podium.golang.errors import InputError


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
        """All files that were named, with -f or without. Raises InputError for one that stands
        alone and is not there: that is told before anything is loaded to read it."""
        found = [*(self.filename or ()), *more]
        if len(found) == 1 and found[0] != "-" and "://" not in found[0]:
            try:
                os.stat(found[0])
            except FileNotFoundError as problem:
                reason = str(problem.strerror).lower()
                raise InputError(f"cannot be read: {reason}", source=found[0]) from None
            except (OSError, ValueError):
                pass  # whoever reads it tells
        return found


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
