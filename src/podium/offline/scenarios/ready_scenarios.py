"""Scenarios that Podium brings along, as the files that they are (`library/`)."""

from importlib.resources import files
from pathlib import Path
from typing import Final

from podium.golang.errors import InputError, closest, did_you_mean
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.net.files.bounded_files import read_input
from podium.offline.scenarios.scenario_file import ScenarioFile, read_scenario_file

_LIBRARY: Final = files("podium.offline.scenarios") / "library"
_SUFFIX: Final = ".yaml"


def list_ready_scenarios() -> list[str]:
    """Their names, in order."""
    names = (entry.name for entry in _LIBRARY.iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))


def read_ready_scenario(name: str) -> str:
    """The text of one. Raises InputError if there is none of that name."""
    known = list_ready_scenarios()
    if name not in known:
        remedy = did_you_mean(closest(name, known)) or f"there are {', '.join(known)}"
        raise InputError(f"no scenario named {name}", remedy=remedy)
    return (_LIBRARY / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def find_scenario(name: str, *, gates: FeatureGates) -> ScenarioFile:
    """A file, or one that Podium brings along, by its name. Raises InputError."""
    data, folder = read_scenario_source(name)
    return read_scenario_file(data, name, folder, gates=gates)


def read_scenario_source(name: str) -> tuple[bytes, str]:
    """The bytes of a scenario, and the folder from which files that it names are found."""
    is_name = "/" not in name and not name.endswith((_SUFFIX, ".yml", ".json"))
    if is_name and name != "-" and not Path(name).exists():
        return read_ready_scenario(name).encode(), ""
    return read_input(name), str(Path(name).parent)
