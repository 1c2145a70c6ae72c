"""Changes of a cluster on the command line, in the order in which they are written.

All options that are changes are one parameter with several names: what each of them is called and
where it stands is kept with its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter, Token

from podium.commands.options import read_scenario
from podium.commands.same_command import WrittenOption
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.kubernetes.releases.feature_gates import FeatureGates
    from podium.offline.what_if.changes import Change


NAMES: Final = (
    *("--drain", "--cordon", "--uncordon", "--remove", "--fail", "--zone-outage"),
    *("--add", "--taint", "--scale"),
)


def _convert(type_: Any, tokens: Sequence[Token]) -> list[WrittenOption]:  # noqa: ARG001
    return [WrittenOption(token.keyword or "", token.value) for token in tokens]


Changes = Annotated[
    list[WrittenOption] | None,
    Parameter(
        name=NAMES,
        negative="",
        converter=_convert,
        n_tokens=1,
        accepts_keys=False,
        metavar="WHAT",
        help="A change, in the order in which they are written, any of them as often as needed. "
        "Nodes are a name or labels (pool=gpu): --drain, --cordon, --uncordon, --remove (drain and "
        "take away) and --fail (gone at once) NODES; --zone-outage ZONE; --add FILE with nodes; "
        "--taint NODES:key=value:Effect, with a hyphen at the end to take it off; --scale "
        "deploy/web=50.",
    ),
]


def read_changes(
    written: Sequence[WrittenOption], validation: str, *, gates: FeatureGates
) -> list[Change]:
    """Raises InputError."""
    return [_read(each, validation, gates) for each in written]


def _read(written: WrittenOption, validation: str, gates: FeatureGates) -> Change:
    from podium.offline.what_if.changes import (
        AddNodes,
        Cordon,
        Drain,
        Fail,
        Remove,
        ZoneOutage,
        parse_scale,
        parse_taint,
    )

    value = written.value
    if not value:
        raise InputError(f"{written.option} needs a value")
    match written.option:
        case "--drain":
            return Drain(value)
        case "--cordon":
            return Cordon(value)
        case "--uncordon":
            return Cordon(value, closed=False)
        case "--remove":
            return Remove(value)
        case "--fail":
            return Fail(value)
        case "--zone-outage":
            return ZoneOutage(value)
        case "--add":
            return AddNodes(read_scenario([value], validation, gates=gates).nodes, value)
        case "--taint":
            return parse_taint(value)
        case _:
            return parse_scale(value)
