"""The page's scripts as one, for a file that can load no others.

Each module becomes a function that gives what it exports; an import takes it from there. That needs
modules in the form in which these are written: imports by name at the top, exports in front of what
they export.
"""

import re
from collections.abc import Mapping
from typing import Final

MAIN: Final = "main.js"
_IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_COMMENT: Final = re.compile(r"^\s*//.*\n", re.MULTILINE)
_DOC: Final = re.compile(r"^\s*/\*\*(?:(?!\*/).)*\*/\n", re.MULTILINE | re.DOTALL)


def bundle(sources: Mapping[str, str], main: str = MAIN) -> str:
    """`sources` are scripts by file name; those that `main` needs come before it."""
    done: dict[str, str] = {}
    _add(main, sources, done)
    return '"use strict";\n' + "".join(done.values())


def _add(name: str, sources: Mapping[str, str], done: dict[str, str]) -> None:
    source = sources[name]
    for needed in (match[2] for match in _IMPORT.finditer(source)):
        if needed not in done:
            _add(needed, sources, done)
    exported = [match[1] for match in _EXPORT.finditer(source)]
    body = _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {_variable(found[2])};\n", source)
    body = _COMMENT.sub("", _DOC.sub("", _EXPORT.sub("", body)))
    given = ", ".join(exported)
    done[name] = f"const {_variable(name)} = (() => {{\n{body}return {{ {given} }};\n}})();\n"


def _variable(name: str) -> str:
    return f"module_{name.removesuffix('.js')}"
