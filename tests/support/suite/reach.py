"""Which test files a change reaches: `make test-changed` runs those and no others.

A changed module of `src/podium` reaches every module that imports it, directly or through others,
and those reach the tests that import them or a module of `tests/support` that does. Commands are
imported by name when they are called, so a test that runs commands reaches those whose name its
text has; one that follows documents or examples reaches all of them. Any other file reaches the
tests in its folder, and those whose text has its name. What every test depends on
(`tests/conftest.py`, `pyproject.toml`, `constraints.txt`) reaches them all.

    python tests/support/suite/reach.py [--base REVISION]
"""

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Final

import grimp

ROOT: Final = Path(__file__).resolve().parents[3]
REACH_EVERYTHING: Final = frozenset(
    {"tests/conftest.py", "pyproject.toml", "constraints.txt", "Makefile"}
)
_COMMAND: Final = re.compile(r'"([\w-]+)",\s*"(podium\.[\w.]+):\w+"')
# Words of tests that run whatever commands a document or example has.
_FOLLOWS_DOCUMENTS: Final = re.compile(r"\b(docs|README|examples|walkthroughs|deploy)\b")


def changed_files(base: str) -> list[str]:
    """Paths that differ from a revision, those that git does not track yet included."""

    def ask(*words: str) -> list[str]:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    return sorted({*ask("diff", "--name-only", base), *ask("ls-files", "-o", "--exclude-standard")})


def module_of(path: PurePosixPath) -> str | None:
    """The dotted name under which tests import a file, `None` for what nothing imports."""
    if path.suffix != ".py":
        return None
    for root in ("src", "tests"):
        if path.is_relative_to(root):
            parts = path.relative_to(root).with_suffix("").parts
            return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return None


class TestFile:
    """A file under `tests`: what it imports, and its text."""

    __test__ = False

    def __init__(self, path: Path) -> None:
        self.path = path.relative_to(ROOT).as_posix()
        self.name = module_of(PurePosixPath(self.path)) or ""
        self.text = path.read_text(encoding="utf-8")
        self.imports = set(_imported(ast.parse(self.text)))


def _imported(tree: ast.AST) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class Reach:
    """The import graph of the project and its tests."""

    def __init__(self) -> None:
        self._graph = grimp.build_graph("podium", cache_dir=None)
        files = [TestFile(path) for path in sorted((ROOT / "tests").rglob("*.py"))]
        self._support = {each.name: each for each in files if each.name.startswith("support.")}
        self._tests = [each for each in files if PurePosixPath(each.path).name.startswith("test_")]
        app = (ROOT / "src/podium/commands/app.py").read_text(encoding="utf-8")
        self._commands = dict(_COMMAND.findall(app))

    def tests_of(self, paths: Iterable[str]) -> list[str]:
        """The test files that a change of these paths reaches, in order."""
        paths = list(paths)
        if REACH_EVERYTHING.intersection(paths) or any(p.endswith("/conftest.py") for p in paths):
            return [test.path for test in self._tests]
        modules, others = set[str](), list[PurePosixPath]()
        for path in map(PurePosixPath, paths):
            name = module_of(path)
            if name is None:
                others.append(path)
            else:
                modules |= {name, *self._downstream(name)}
        return [
            test.path
            for test in self._tests
            if test.path in paths
            or modules & self._reached_by(test)
            or any(self._mentions(test, other) for other in others)
        ]

    def _downstream(self, module: str) -> set[str]:
        return (
            self._graph.find_downstream_modules(module) if module in self._graph.modules else set()
        )

    def _with_support(self, test: TestFile) -> tuple[TestFile, ...]:
        """A test and the modules of `tests/support` that it imports, directly or through others."""
        found, waiting = {test.name: test}, [test]
        while waiting:
            for name in waiting.pop().imports & self._support.keys():
                if name not in found:
                    found[name] = self._support[name]
                    waiting.append(self._support[name])
        return tuple(found.values())

    def _reached_by(self, test: TestFile) -> set[str]:
        files = self._with_support(test)
        reached = set().union(*(each.imports for each in files)) | {each.name for each in files}
        text = "\n".join(each.text for each in files)
        runs_commands = "podium.commands" in reached or re.search(r'"podium"|bin/podium', text)
        if runs_commands:
            follows = _FOLLOWS_DOCUMENTS.search(test.text)
            reached |= {
                module
                for command, module in self._commands.items()
                if follows or re.search(rf"(?<![\w-]){re.escape(command)}(?![\w-])", text)
            }
        return reached

    def _mentions(self, test: TestFile, path: PurePosixPath) -> bool:
        folder = PurePosixPath(test.path).parent
        if path.is_relative_to(folder) and folder != PurePosixPath("tests"):
            return True
        return path.name in test.text or (
            path.parts[0] in ("docs", "examples", "deploy")
            and re.search(rf"\b{re.escape(path.parts[0])}\b", test.text) is not None
        )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Print the test files that a change reaches.")
    parser.add_argument("--base", default="HEAD", help="the revision to compare with")
    base = parser.parse_args(arguments).base
    print("\n".join(Reach().tests_of(changed_files(base))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
