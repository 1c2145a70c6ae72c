"""What every plugin is and has, whichever points it serves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import msgspec

from podium.framework.events import Registration
from podium.framework.sources import ValueSource

if TYPE_CHECKING:
    from podium.framework.handle import Handle

Arguments: TypeAlias = Any  # type: ignore[explicit-any]  # of the type that the plugin's Args is


class Plugin:
    """What every plugin has: a name, arguments, a handle on the framework.

    A plugin with a Struct named `Args` gets its arguments as one (`plugin_arguments.py`).
    """

    name: ClassVar[str]
    Args: ClassVar[type[msgspec.Struct] | None] = None
    writes: ClassVar[tuple[str, ...]] = ()
    """Methods of an extension point of which a plugin has to write one at least."""

    def __init__(self, args: Arguments, handle: "Handle") -> None:
        self.args = args
        self.handle = handle

    def events(self) -> Sequence[Registration] | None:
        """Events that may make a pod schedulable that this plugin rejected.

        None stands for "any event may"; an empty sequence for "none does".
        """
        return None

    def sources(self) -> Sequence[ValueSource]:
        """Data from outside that the driver is to keep up to date; see `sources.py`."""
        return ()
