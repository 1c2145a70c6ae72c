#!/usr/bin/env python3
"""Figures of the layout: packages, files, lines, names, and which module needs which.

    python tools/layout.py                     the figures of the working tree
    python tools/layout.py --against REVISION  beside those of another commit
    python tools/layout.py --names             the names behind the counts, to work through
    python tools/layout.py --json

None of them is a limit. One that moves the wrong way asks a question, and the answer may be good.
Nothing of Podium is imported, so any commit can be measured.
"""

import argparse
import ast
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Final

SOURCE: Final = "src/podium"
SMALL: Final = 80
LONG_FUNCTION: Final = 70
TOP: Final = "(top)"

PARTICIPLE: Final = re.compile(
    r"[a-z]+(?:ed|ing|own|old|ept|eft|ade|aid|ought|ound)|written|given|taken"
)
WORDS: Final = frozenset(
    {"embed", "feed", "need", "seed", "speed", "ping", "ring", "string"}
    | {"bound", "down", "fold", "ground", "hold", "own", "round", "sound"}
)
"""Verbs and nouns that look like participles."""

SAMPLES: Final[Mapping[str, re.Pattern[str]]] = {
    "a filter plugin (NodePorts)": re.compile("NodePorts|node_ports"),
    "a pod field (schedulingGates)": re.compile("schedulingGates|scheduling_gates"),
    "a command (rebalance)": re.compile(r"[Rr]ebalance\w*"),
    "a kind (RuntimeClass)": re.compile("RuntimeClass|runtimeclasses|runtime_class(es)?"),
    "a controller (node lifecycle)": re.compile("node_?lifecycle"),
    "a release (numbers of two)": re.compile(r"1\.3[67](\.\d+)?"),
}
"""For six changes that are often made, what already is there of the sort. Whoever makes such a
change touches about as many files as name the sample: in code, strings and data, not in comments.
"""
COMMAND_LINES: Final = ("podium.commands.app", "podium.cli.app")
"""Where the commands are listed, now and in older commits."""
NAMING_SUFFIXES: Final = (".py", ".json", ".js")


@dataclass
class Module:
    name: str
    path: Path
    tree: ast.Module
    lines: int
    imports: set[str] = field(default_factory=set)
    """Modules of Podium that it imports anywhere, in functions and for types too."""

    @property
    def package(self) -> str:
        _, _, rest = self.name.partition(".")
        folder, found, _ = rest.partition(".")
        return folder if found or (rest and self.path.name == "__init__.py") else TOP


@dataclass
class Layout:
    packages: int
    files: int
    lines: int
    import_share: float
    """Lines of import statements, in percent of all lines."""
    single_importer: list[str]
    """Modules that one other module imports, with that one."""
    small_single_importer: list[str]
    participles: list[str]
    """Functions, properties left out, whose name is one participle."""
    repeated_classes: list[str]
    """Public class names that several modules define."""
    repeated_across_packages: list[str]
    long_functions: list[str]
    command_files: list[str]
    """For each command, the modules of `commands` that it alone reaches."""
    lines_by_package: dict[str, int]
    files_by_change: dict[str, list[str]]
    """For each sample of a change, the files that name it."""


def read_modules(root: Path) -> dict[str, Module]:
    found: dict[str, Module] = {}
    for path in sorted(root.rglob("*.py")):
        name = ".".join(path.relative_to(root.parent).with_suffix("").parts)
        text = path.read_text()
        tree = ast.parse(text)
        name = name.removesuffix(".__init__")
        found[name] = Module(name, path, tree, text.count("\n"))
    for module in found.values():
        module.imports = {name for name in imported_names(module) if name in found}
        module.imports.discard(module.name)
    return found


def imported_names(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=origin, names=names) if origin:
                yield origin
                yield from (f"{origin}.{alias.name}" for alias in names)


def measure(root: Path) -> Layout:
    modules = read_modules(root)
    importers: dict[str, set[str]] = defaultdict(set)
    for module in modules.values():
        # Of `from a.b import c`, a.b counts as imported only where c is none of its modules.
        parents = {name.rpartition(".")[0] for name in module.imports}
        for name in module.imports:
            if name not in parents or modules[name].path.name != "__init__.py":
                importers[name].add(module.name)
    single = {
        name: next(iter(importers[name]))
        for name, module in modules.items()
        if len(importers[name]) == 1 and not module.path.name.startswith("__")
    }
    classes: dict[str, list[Module]] = defaultdict(list)
    participles: list[str] = []
    long_functions: list[str] = []
    for module in modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(module)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if is_participle(node):
                    participles.append(f"{module.name}:{node.lineno} {node.name}")
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LONG_FUNCTION:
                    long_functions.append(
                        f"{module.name}:{node.lineno} {node.name} ({length} lines)"
                    )
    repeated = {name: where for name, where in sorted(classes.items()) if len(where) > 1}
    lines = sum(module.lines for module in modules.values())
    by_package = Counter[str]()
    for module in modules.values():
        by_package[module.package] += module.lines
    return Layout(
        packages=len(by_package.keys() - {TOP}),
        files=len(modules),
        lines=lines,
        import_share=round(100 * sum(map(import_lines, modules.values())) / max(lines, 1), 1),
        single_importer=[f"{name} <- {by}" for name, by in single.items()],
        small_single_importer=[
            f"{name} <- {by}" for name, by in single.items() if modules[name].lines < SMALL
        ],
        participles=participles,
        repeated_classes=describe_classes(repeated),
        repeated_across_packages=describe_classes(
            {name: where for name, where in repeated.items() if len({m.package for m in where}) > 1}
        ),
        long_functions=long_functions,
        command_files=[f"{len(own)} {name}: {', '.join(own)}" for name, own in own_files(modules)],
        lines_by_package=dict(by_package.most_common()),
        files_by_change=find_samples(root),
    )


def find_samples(root: Path) -> dict[str, list[str]]:
    files = [path for path in sorted(root.rglob("*")) if path.suffix in NAMING_SUFFIXES]
    names = {str(path.relative_to(root)): set(read_names(path)) for path in files}
    return {
        title: [path for path, found in names.items() if any(map(pattern.fullmatch, found))]
        for title, pattern in SAMPLES.items()
    }


def read_names(path: Path) -> Iterator[str]:
    """The identifiers of a file, and the words of its strings that are no docstrings."""
    text = path.read_text()
    if path.suffix != ".py":
        yield from re.findall(r"[\w.]+", text)
        return
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant() as value):
                prose.add(id(value))
            case ast.Constant(value=str() as words) if id(node) not in prose:
                yield from re.findall(r"[\w.]+", words)
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.keyword(arg=str() as name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                if isinstance(node, ast.ImportFrom):
                    yield from (node.module or "").split(".")
                yield from (part for alias in names for part in alias.name.split("."))


def is_participle(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    name = function.name.strip("_")
    if name in WORDS or not PARTICIPLE.fullmatch(name):
        return False
    return not any("property" in ast.dump(decorator) for decorator in function.decorator_list)


def import_lines(module: Module) -> int:
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def describe_classes(classes: Mapping[str, Sequence[Module]]) -> list[str]:
    return [f"{name}: {', '.join(m.name for m in where)}" for name, where in classes.items()]


def own_files(modules: Mapping[str, Module]) -> Iterator[tuple[str, list[str]]]:
    """The commands that the command line lists, and what of its package each reaches alone."""
    start = next((name for name in COMMAND_LINES if name in modules), "")
    if not start:
        return
    package = start.removesuffix("app")
    inside = {name for name in modules if name.startswith(package)} - {start}
    # What long-running processes are made of is no command's own, wherever it is kept.
    inside = {name for name in inside if not name.startswith(f"{package}processes")}
    listed = ast.walk(modules[start].tree)
    texts = [n.value for n in listed if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    named = {name for text in texts for name in re.findall(re.escape(package) + r"\w+", text)}
    commands = sorted((named or modules[start].imports) & inside)
    reached = {command: reach(command, modules, inside) for command in commands}
    users = Counter(name for names in reached.values() for name in names)
    for command in commands:
        yield (
            command.rpartition(".")[2],
            sorted(name.removeprefix(package) for name in reached[command] if users[name] == 1),
        )


def reach(start: str, modules: Mapping[str, Module], inside: set[str]) -> set[str]:
    found = {start}
    left = [start]
    while left:
        for name in modules[left.pop()].imports & inside - found:
            found.add(name)
            left.append(name)
    return found


def measure_revision(revision: str) -> Layout:
    archive = subprocess.run(
        ["git", "archive", revision, SOURCE], check=True, capture_output=True
    ).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        return measure(Path(folder) / SOURCE)


def figures(layout: Layout) -> dict[str, str]:
    commands = [int(row.split()[0]) for row in layout.command_files]
    mean = sum(commands) / len(commands) if commands else 0
    return {
        "packages": str(layout.packages),
        "files": f"{layout.files:,}",
        "lines": f"{layout.lines:,}",
        "lines in imports, %": str(layout.import_share),
        "modules with one importer": str(len(layout.single_importer)),
        f"of these under {SMALL} lines": str(len(layout.small_single_importer)),
        "functions named by a participle": str(len(layout.participles)),
        "class names defined twice": str(len(layout.repeated_classes)),
        "of these in several packages": str(len(layout.repeated_across_packages)),
        f"functions over {LONG_FUNCTION} lines": str(len(layout.long_functions)),
        "modules of one command alone, mean": f"{mean:.1f}",
        "modules of one command alone, most": str(max(commands, default=0)),
        **{
            f"files that name {title}": str(len(files))
            for title, files in layout.files_by_change.items()
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Figures of the layout.")
    parser.add_argument("--against", metavar="REVISION", help="show those of another commit beside")
    parser.add_argument("--names", action="store_true", help="list the names behind the counts")
    parser.add_argument("--json", action="store_true", help="write JSON")
    options = parser.parse_args()
    now = measure(Path(__file__).resolve().parent.parent / SOURCE)
    if options.json:
        json.dump(asdict(now), sys.stdout, indent=1)
        return
    before = figures(measure_revision(options.against)) if options.against else {}
    for title, value in figures(now).items():
        print(f"{title:46}" + (f"{before[title]:>10} ->" if before else "") + f"{value:>10}")
    print("lines: " + ", ".join(f"{name} {n:,}" for name, n in now.lines_by_package.items()))
    if options.names:
        lists = {title: names for title, names in asdict(now).items() if isinstance(names, list)}
        for title, names in (lists | now.files_by_change).items():
            print(f"\n{title.replace('_', ' ')} ({len(names)})")
            print("\n".join(f"  {name}" for name in names))


if __name__ == "__main__":
    main()
