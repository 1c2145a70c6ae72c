"""Options of commands that serve the Kubernetes API: what is served, and what to do with a damaged
store.

`--runtime-config` says which group-versions there are, as kube-apiserver's flag does:
`apps/v1=false,api/beta=true`, given once or several times; a later setting of a key wins, and a key
without a value is switched on.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from podium.commands.printing import print_lines
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.kubernetes.releases.feature_gates import FeatureGates
    from podium.kubernetes.resources.table import RuntimeConfig

_FLAG: Final = "--runtime-config"
_PREFIX: Final = "apis/"

RuntimeConfigFlag = Annotated[
    list[str] | None,
    Parameter(
        name=[_FLAG],
        negative="",
        metavar="GROUP/VERSION=BOOL",
        show_default=False,
        help="Group-versions to serve or not: api/all, api/beta, api/alpha, apps/v1,"
        " batch/v1/cronjobs. May be repeated. [default: all that there are]",
    ),
]

DataRecover = Annotated[
    bool,
    Parameter(
        name=["--data-recover"],
        negative="",
        show_default=False,
        help="If what is kept there is damaged, go on with what can be read of it. The damaged"
        " files are kept beside it.",
    ),
]


def read_runtime_config(given: Iterable[str] | None, gates: FeatureGates) -> RuntimeConfig:
    """What was given on the command line; what has no effect is told on standard error.

    Raises InputError for what kube-apiserver does not start with either.
    """
    from podium.kubernetes.resources.table import RuntimeConfig

    settings: dict[str, bool] = {}
    for setting in (part.strip() for text in given or () for part in text.split(",")):
        if setting:
            key, _, value = setting.partition("=")
            settings[key.strip().removeprefix(_PREFIX).removeprefix("/")] = _read_bool(
                setting, value
            )
    found = RuntimeConfig(settings)
    if mistakes := found.find_mistakes():
        raise InputError("; ".join(mistakes), source=_FLAG)
    warnings = found.find_warnings(gates)
    print_lines((f"podium: warning: {_FLAG}: {text}" for text in warnings), error=True)
    return found


def _read_bool(setting: str, value: str) -> bool:
    # upstream: a key without a value is switched on.
    from podium.golang.strconv import FALSE, TRUE

    if value.strip() in ("", *TRUE):
        return True
    if value.strip() in FALSE:
        return False
    problem = f"invalid value of {setting}: {value!r} is not a bool"
    raise InputError(problem, source=_FLAG, remedy="write true or false")


def require_data(data: Path | None, *, recovers: bool) -> None:
    """Raises InputError where there is nothing that could be damaged."""
    if recovers and data is None:
        raise InputError("--data-recover is about --data", remedy="name the directory with --data")
