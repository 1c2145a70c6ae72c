"""Extenders that users write in Python, from a file or from a module."""

import sys
from types import ModuleType

from podium.client.extenders.extender import Extender, verbs_of
from podium.golang.errors import InputError, closest, did_you_mean
from podium.user_code.modules import load_code, load_error

_FORMS = "an extender is given as FILE.py, FILE.py:Class or package.module:Class"


def load_extender(spec: str) -> type[Extender]:
    """The class that the command line names; if it names none, the only one there is."""
    code = load_code(spec, "extender", _FORMS)
    own = _classes(code.module)
    if code.name is not None:
        return _find_named(code.module, code.where, code.name, own)
    if len(own) == 1:
        return own[0]
    if own:
        names = ", ".join(kind.__name__ for kind in own)
        remedy = f"say which: {code.where}:{own[0].__name__}"
        raise InputError(f"holds {len(own)} extenders: {names}", source=code.where, remedy=remedy)
    remedy = "an extender is a class that inherits podium.addons.extenders.Extender"
    raise InputError("holds no extender", source=code.where, remedy=remedy)


def _classes(module: ModuleType) -> list[type[Extender]]:
    return [
        thing
        for thing in dict.fromkeys(t for t in vars(module).values() if isinstance(t, type))
        if issubclass(thing, Extender) and thing.__module__ == module.__name__
    ]


def _find_named(
    module: ModuleType, where: str, name: str, own: list[type[Extender]]
) -> type[Extender]:
    found = getattr(module, name, None)
    if isinstance(found, type) and issubclass(found, Extender):
        return found
    names = [kind.__name__ for kind in own]
    remedy = did_you_mean(closest(name, names)) or (names and f"there is {', '.join(names)}") or ""
    if found is None:
        raise InputError(f"has no class {name}", source=where, remedy=remedy)
    problem = f"{name} is not an extender: it does not inherit podium.addons.extenders.Extender"
    raise InputError(problem, source=where, remedy=remedy)


def build_extender(kind: type[Extender]) -> Extender:
    """An extender of that class that serves something."""
    try:
        built = kind()
    except (Exception, SystemExit) as problem:
        raise load_error(
            problem, kind.__name__, sys.modules[kind.__module__].__file__ or ""
        ) from problem
    if not verbs_of(built):
        raise InputError(
            f"{kind.__name__} serves nothing", remedy="write filter, prioritize, preempt or bind"
        )
    return built
