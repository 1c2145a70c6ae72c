"""Scheduler extenders, both sides: asking them, and writing one.

`Extender` and what its methods take is for people who write one; it stands in
`podium.client.extenders` beside the client that asks extenders, and here is who serves it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podium.client.extenders.extender import (
        Extender,
        ExtenderError,
        Nodes,
        Unresolvable,
        Victims,
    )

__all__ = ["Extender", "ExtenderError", "Nodes", "Unresolvable", "Victims"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from podium.client.extenders import extender

        return getattr(extender, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
