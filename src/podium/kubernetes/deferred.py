"""What a record names and few commands call: functions whose modules are loaded when called.

A record has all the rules of its kind. Whoever places pods has no use for the columns of
`kubectl get`, and whoever prints them none for validation:

    if TYPE_CHECKING:
        from podium.kubernetes.tables import pods as pod_tables
    else:
        pod_tables = defer("podium.kubernetes.tables.pods")

Contract: what is taken from a deferred module is called, or its attributes are read; nothing else.
A name that the module does not have is a mistake that type checkers find.
"""

from importlib import import_module
from typing import Any


def defer(module: str) -> Any:
    """The module, loaded when something of it is used."""
    return _Module(module)


class _Module:
    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> "_Value":
        return _Value(self._name, name)


class _Value:
    __slots__ = ("_found", "_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name
        self._found: Any = None

    def _find(self) -> Any:
        if self._found is None:
            self._found = getattr(import_module(self._module), self._name)
        return self._found

    def __call__(self, *arguments: Any) -> Any:
        return self._find()(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._find(), name)

    def __repr__(self) -> str:
        return f"<{self._module}:{self._name}>"
