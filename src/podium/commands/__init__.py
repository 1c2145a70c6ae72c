"""What people touch: the `podium` command."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.commands.app import main

__all__ = ["main"]


def __getattr__(name: str) -> Any:
    # Later, so that `podium.commands.processes` loads nothing that a terminal needs.
    if name in __all__:
        from podium.commands import app

        return getattr(app, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
