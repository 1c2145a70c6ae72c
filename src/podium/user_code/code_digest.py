"""A digest of users' code, so that results can tell which code they came from.

Contract: it follows from the content of the files that a class's module is made of: its own file,
those of its package, and those of other modules of the user's that these name. Installed libraries
and Podium itself do not count; code that is imported within functions alone is not seen.
"""

import sys
import sysconfig
from collections.abc import Iterable, Iterator
from hashlib import sha256
from types import ModuleType
from typing import Final

from podium.user_code.modules import digest_module

_LIBRARIES: Final = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})
_OURS: Final = "podium"


def digest_code(classes: Iterable[type]) -> str:
    """Of all of these together; "" if none is a user's. Raises InputError."""
    waiting = [each.__module__ for each in classes]
    seen: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        module = sys.modules.get(name)
        if name in seen or module is None or _root(name) == _OURS:
            continue
        seen[name] = digest_module(module)
        waiting += [each for each in _named_by(module) if _is_users(each, _root(name))]
    lines = sorted(f"{name} {digest}" for name, digest in seen.items())
    return sha256("\n".join(lines).encode()).hexdigest() if lines else ""


def _named_by(module: ModuleType) -> Iterator[str]:
    for value in vars(module).values():
        name = value.__name__ if isinstance(value, ModuleType) else _module_of(value)
        if name:
            yield name


def _module_of(value: object) -> str:
    try:
        found = getattr(value, "__module__", "")
    except Exception:
        return ""
    return found if isinstance(found, str) else ""


def _is_users(name: str, root: str) -> bool:
    """Whether a module belongs to the user's package `root`, or is no library at all."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if not isinstance(file, str):
        return False
    return _root(name) == root or not file.startswith(_LIBRARIES)


def _root(name: str) -> str:
    return name.partition(".")[0]
