"""Who asks: a name and groups, as authentication found them."""

from dataclasses import dataclass, field
from typing import Final

MASTERS: Final = "system:masters"
AUTHENTICATED: Final = "system:authenticated"
UNAUTHENTICATED: Final = "system:unauthenticated"


@dataclass(frozen=True, slots=True)
class User:
    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, list[str]] = field(default_factory=dict)

    @property
    def may_do_everything(self) -> bool:
        return MASTERS in self.groups


ADMIN: Final = User("admin", "admin", (MASTERS, AUTHENTICATED))
ANONYMOUS: Final = User("system:anonymous", "", (UNAUTHENTICATED,))
