"""Where a server keeps its objects, and what to do if they are damaged."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from podium.golang.errors import InputError

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


def require_data(data: Path | None, *, recovers: bool) -> None:
    """Raises InputError where there is nothing that could be damaged."""
    if recovers and data is None:
        raise InputError("--data-recover is about --data", remedy="name the directory with --data")
