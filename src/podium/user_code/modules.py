"""Python code that users bring along, from a file or from a module.

Plugins and extenders are named alike, `FILE.py[:Class]` or `package.module[:Class]`, and loading
one runs its code, which is what the user asked for.

Contract: whatever is wrong with the code is an InputError that says where.

A digest of users' code, so that results can tell which code they came from. Contract: it follows
from the content of the files that a class's module is made of: its own file, those of its package,
and those of other modules of the user's that these name. Installed libraries and Podium itself do
not count; code that is imported within functions alone is not seen.
"""

import importlib
import re
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

from podium.golang.errors import InputError
from podium.net.files.bounded_files import read_input
from podium.scheduler.framework.faults import locate_problem
from podium.user_code.guarded_calls import PluginExited, kept_apart
from podium.user_code.time_limits import LOADING_FACTOR, call_limited

_FILE = re.compile(r"(?P<where>.+\.py)(?::(?P<name>\w+))?", re.DOTALL)
_MODULE = re.compile(r"(?P<where>[^\W\d]\w*(?:\.[^\W\d]\w*)*)(?::(?P<name>\w+))?")

_DIGEST = "__podium_source_digest__"


class UserCode(NamedTuple):
    """A loaded module, how the user calls it, and the class that was requested, if one was."""

    module: ModuleType
    where: str
    name: str | None


def load_code(spec: str, option: str, forms: str) -> UserCode:
    """Load what `spec`, given to an option, names; `forms` tells what the option takes."""
    if found := _FILE.fullmatch(spec):
        return UserCode(_from_file(found["where"]), found["where"], found["name"])
    if found := _MODULE.fullmatch(spec):
        return UserCode(_from_module(found["where"], option), found["where"], found["name"])
    raise InputError(f"{option} {spec}: neither a file nor a module", remedy=forms)


def code_file(spec: str) -> Path | None:
    """The file that holds what `spec` names; None if it was not loaded or has no file."""
    if found := _FILE.fullmatch(spec):
        return Path(found["where"])
    module = sys.modules.get(_module_name(spec))
    return Path(module.__file__) if module is not None and module.__file__ else None


@contextmanager
def loaded_anew(specs: Iterable[str]) -> Iterator[None]:
    """Within the context, loading these reads their files again; should that fail, what was loaded
    before is what everybody finds again."""
    names = [_module_name(spec) for spec in specs]
    held = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    for module in held.values():
        # Bytecode counts as fresh for a file of equal size that was written in the same second.
        if module.__file__:
            Path(cache_from_source(module.__file__)).unlink(missing_ok=True)
    importlib.invalidate_caches()
    try:
        yield
    except BaseException:
        sys.modules.update(held)
        raise


def digest_module(module: ModuleType) -> str:
    """Of a module's source: of a file that was named as one, as it was when it was loaded."""
    known = vars(module).get(_DIGEST)
    if isinstance(known, str):
        return known
    return sha256(read_input(module.__file__)).hexdigest() if module.__file__ else ""


def load_error(problem: BaseException, shown: str, path: str = "") -> InputError:
    """Why code does not load, with the line of the file at `path` if it is in there."""
    if isinstance(problem, PluginExited) and problem.__cause__ is not None:
        problem = problem.__cause__
    if isinstance(problem, SyntaxError):
        ours = problem.filename in (path, None)
        where = "" if ours else f" in {problem.filename}, line {problem.lineno}"
        line = problem.lineno if ours else None
        return InputError(f"is not Python: {problem.msg}{where}", source=shown, line=line)
    frames = traceback.extract_tb(problem.__traceback__)
    own = [frame.lineno for frame in frames if frame.filename == path]
    return InputError(
        f"cannot be loaded: {locate_problem(problem)}", source=shown, line=own[-1] if own else None
    )


def _module_name(spec: str) -> str:
    """Under which the module that `spec` names is kept."""
    if found := _FILE.fullmatch(spec):
        return _file_module_name(found["where"])
    return spec.partition(":")[0]


def _file_module_name(path: str) -> str:
    resolved = str(Path(path).resolve())
    return f"podium_user_{sha256(resolved.encode()).hexdigest()[:8]}_{Path(path).stem}"


def _from_file(path: str) -> ModuleType:
    source = read_input(path)
    resolved = str(Path(path).resolve())
    name = _file_module_name(path)
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = resolved
    vars(module)[_DIGEST] = sha256(source).hexdigest()
    sys.modules[name] = module
    try:
        with kept_apart():
            code = compile(source, resolved, "exec")
            call_limited(
                f"code {path}",
                "loading",
                name,
                exec,
                (code, module.__dict__),
                factor=LOADING_FACTOR,
            )
    except (Exception, SystemExit) as problem:
        del sys.modules[name]
        raise load_error(problem, path, resolved) from problem
    return module


def _from_module(name: str, option: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        with kept_apart():
            imported: ModuleType = call_limited(
                f"code {name}",
                "loading",
                name,
                importlib.import_module,
                (name,),
                factor=LOADING_FACTOR,
            )
            return imported
    except ModuleNotFoundError as problem:
        if problem.name is not None and (name + ".").startswith(problem.name + "."):
            raise InputError(f"{option} {name}: no module named {problem.name}") from None
        raise load_error(problem, name) from problem
    except (Exception, SystemExit) as problem:
        raise load_error(problem, name) from problem


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
