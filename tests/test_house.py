"""The rules of the layout, each as a test: what no linter knows.

* Every folder is on the map in `docs/architecture.md`, and every file that it or CONTRIBUTING
  names is there.
* Names are words that a reader can know: none of those that were coined and dropped.
* No class name means two things where packages meet, but for those of `house/class_names.txt`,
  which only gets shorter (`python tests/test_house.py` drops what is not repeated any more).
* What a comment or a page cites can be opened by whoever reads it.
* Every command that a page shows is run by a test, or at least known to take its options.
* Every name that Podium adds to clusters and documents is on `docs/names.md`, and every feature
  gate is read, or on `docs/feature-gates.md`.

What each command may import has its table in `tests/commands/test_start_up.py`; that no test knows
how fast the machine is, in `tests/test_no_clocks.py`.
"""

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from podium.commands.app import build_app
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.release import NEWEST, Version, release

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "podium"
DOCS = ROOT / "docs"

# --- the map ------------------------------------------------------------------------------------

ROW = re.compile(r"^\| (Where|What|How)\b[^|]*\| `([\w/.]+)` \|$", re.MULTILINE)
QUESTIONS = ROW.findall((ROOT / "CONTRIBUTING.md").read_text())
QUOTED = re.compile(r"`([\w/]+(?:\.py|/))`")
FOLDER = re.compile(r"^\| `([\w/]+)/` \|", re.MULTILINE)


def test_every_folder_is_on_the_map_and_no_other() -> None:
    mapped = FOLDER.findall((DOCS / "architecture.md").read_text())
    there = {
        str(path.parent.relative_to(SOURCE))
        for suffix in ("py", "yaml")
        for path in SOURCE.rglob(f"*.{suffix}")
        if path.parent != SOURCE
    }
    assert len(mapped) == len({*mapped})
    assert {*mapped} == there


def test_every_module_beside_the_packages_is_on_the_map() -> None:
    text = (DOCS / "architecture.md").read_text()
    modules = {path.name for path in SOURCE.glob("*.py") if not path.name.startswith("__")}
    assert {name for name in modules if f"`{name}`" not in text} == set()


def test_there_are_fifty_questions_with_an_answer() -> None:
    assert len(QUESTIONS) >= 50


@pytest.mark.parametrize("file", [file for _, file in QUESTIONS])
def test_the_file_that_answers_a_question_is_there(file: str) -> None:
    assert (SOURCE / file).is_file()


def test_every_file_that_the_architecture_names_is_there() -> None:
    text = (DOCS / "architecture.md").read_text()
    rows = text[text.index("## Folders") :]
    missing: list[str] = []
    for row in rows.splitlines():
        folder = SOURCE
        for name in QUOTED.findall(row):
            # A name may be relative to the folder of the one before it, or to the folder above.
            near = [base / name for base in (SOURCE, folder, folder.parent)]
            found = next((path for path in near if path.exists()), None)
            if found is None:
                missing.append(name)
            else:
                folder = found if found.is_dir() else found.parent
    assert missing == []


# --- names --------------------------------------------------------------------------------------

COINED = frozenset(
    {"crowd", "crowds", "doors", "greeting", "greetings", "helper", "helpers", "misc", "rooms"}
    | {"stranger", "strangers", "tale", "thing", "things", "util", "utils", "worth"}
)
"""Words that once stood for nominated pods, queueing hints, accepting TLS, objects and packages,
and words that say nothing."""
ABOUT_NOTHING = frozenset({"base", "common", "helpers", "manager", "misc", "tools", "utils"})
"""Not even as a whole name of a module."""
CLASS_NAMES = ROOT / "tests" / "house" / "class_names.txt"
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


_DEFINED = re.compile(r"^ *(?:class|def|async def) (\w+)", re.MULTILINE)
_CLASS = re.compile(r"^class ([A-Z]\w*)", re.MULTILINE)
_IMPORTED = re.compile(r"^ *(?:from|import) podium\.(\w+)", re.MULTILINE)
_TEXT = re.compile(r'"([^"\n]+)"')


@cache
def read_modules() -> dict[str, str]:
    """The text of every module by its path below `src/podium`."""
    return {str(p.relative_to(SOURCE)): p.read_text() for p in sorted(SOURCE.rglob("*.py"))}


def find_names() -> Iterator[tuple[str, str]]:
    """The names of modules, classes and functions, each with its place."""
    for path, text in read_modules().items():
        yield path, Path(path).stem
        for found in _DEFINED.finditer(text):
            yield f"{path}:{text.count(chr(10), 0, found.start()) + 1}", found[1]


def find_texts() -> set[str]:
    """The strings of one line, but for names of gates that are gone."""
    read = (text for path, text in read_modules().items() if "removed_gates" not in path)
    return {found for text in read for found in _TEXT.findall(text)}


def test_names_have_no_coined_words() -> None:
    found = {
        f"{place}: {name}"
        for place, name in find_names()
        if COINED & {word.lower() for word in _WORD.findall(name)}
    }
    assert found == set()


def test_no_module_is_named_after_nothing() -> None:
    assert {path for path in read_modules() if Path(path).stem in ABOUT_NOTHING} == set()


def find_repeated_classes() -> dict[str, set[str]]:
    """Public class names of several modules whose packages meet: they are one, or one of them
    imports the other."""
    imports = {
        (package_of(path), package)
        for path, text in read_modules().items()
        for package in _IMPORTED.findall(text)
    }
    places = defaultdict[str, list[str]](list)
    for path, text in read_modules().items():
        for name in _CLASS.findall(text):
            places[name].append(path)
    found = defaultdict[str, set[str]](set)
    for name, paths in places.items():
        for one, other in combinations(paths, 2):
            pair = (package_of(one), package_of(other))
            if pair[0] == pair[1] or {pair, pair[::-1]} & imports:
                found[name] |= {one, other}
    return found


def package_of(path: str) -> str:
    return path.partition("/")[0].removesuffix(".py")


def test_no_class_name_means_two_things_where_packages_meet() -> None:
    repeated = find_repeated_classes()
    assert {name: repeated[name] for name in {*repeated} - {*CLASS_NAMES.read_text().split()}} == {}


def drop_class_names() -> None:
    """Leave out of the list what is not repeated any more."""
    known = CLASS_NAMES.read_text().split()
    kept = [name for name in known if name in find_repeated_classes()]
    CLASS_NAMES.write_text("\n".join(kept) + "\n")


# --- citations ----------------------------------------------------------------------------------

PLACES = ("src", "tests", "docs", "examples", "deploy", "tools")
SUFFIXES = {".c", ".css", ".cu", ".html", ".js", ".md", ".py", ".sh", ".toml", ".yaml"}
CITE = "cite the upstream file and function, or a page under docs/"

_GAP = r"[\s#*/]+"
"""Between two words; they may be on two lines, each with the sign of a comment."""
_DANGLING = [
    re.compile(pattern.replace(" ", _GAP))
    for pattern in (
        r"(?:engine|plugins?|extenders?|configuration|seed)(?:-| )spec(?:ification)?\b(?!:)",
        r"spec(?:ification)?(?:'s)?,? (?:sections? )?\d+(?:\.\d+)?\b(?!\.\d)",
        r"as the spec(?:ification)? (?:has|says|wants)\b",
        r"(?:rules?|search|tables?) of the spec(?:ification)?\b",
        r"seed(?:'s)? (?:article|document|text)s?\b",
        r"sections? \d+(?:\.\d+)*",
        r"§\s*\d+(?:\.\d+)*",
    )
]
"""For text in lower case; a pattern that begins with its word is found ten times faster than one
that begins with a boundary."""
_RFC = re.compile(r"\brfc.?\d+\W+$|^\W+of\W+rfc")
"""Around a section of a document that has a number of its own."""
_PAGE = re.compile(r"(?<![\w/.-])docs/[\w/-]+\.md\b")
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(#([^)\s]+))?\)")
"""Path, and the heading on it; addresses of other sites are left out."""
_FILE = re.compile(r"`((?:[\w-]+/)*[\w-]+\.py)`")


def find_dangling(text: str) -> Iterator[tuple[int, str]]:
    """Lines that cite what no reader has, with the words that do."""
    text = text.lower()
    for pattern in _DANGLING:
        for found in pattern.finditer(text):
            before, after = text[: found.start()][-20:], text[found.end() :][:20]
            if not _RFC.search(before) and not _RFC.search(after):
                yield text.count("\n", 0, found.start()) + 1, " ".join(found[0].split())


def read_texts(*places: str) -> Iterator[tuple[Path, str]]:
    for place in places:
        for path in sorted((ROOT / place).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file() and path != Path(__file__):
                yield path.relative_to(ROOT), path.read_text()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("The order is upstream's (engine spec 6.1).", 1),
        ("# what is left (extenders spec\n# 6 to 9)", 1),
        ("a search (engine\n    spec 5.3)", 1),
        ("Contract: spec sections 7 to 10.", 1),
        ("asked for\n(spec 8.7).", 2),
        ("is from the engine\nspec, sections 5.2 to 5.8", 1),
        ("as the spec says\nit", 1),
        ('"""The rules of the spec, said plainly."""', 1),
        ("what the seed text prints", 1),
        ("order of nodes (§9.2)", 1),
        (" * see section 4.1\n", 1),
    ],
)
def test_a_citation_that_nobody_can_follow_is_found(text: str, line: int) -> None:
    assert min(at for at, _ in find_dangling(text)) == line


@pytest.mark.parametrize(
    "text",
    [
        "# upstream: pkg/scheduler/schedule_one.go, numFeasibleNodesToFind",
        "Source: `getBackoffTime` in `pkg/scheduler/backend/queue/backoff_queue.go`.",
        "what the pod's spec asks for; 4 of them",
        "the spec of a PersistentVolumeClaim",
        "must be a string compatible with semver.org spec 2.0.0",
        "comments as RFC 9110, section 5.6.5 has them",
        "section 5.6.5 of RFC 9110",
        "spec: 3",
        "the `extenders` section of a configuration",
    ],
)
def test_other_words_are_no_dangling_citation(text: str) -> None:
    assert list(find_dangling(text)) == []


def test_no_text_cites_what_a_reader_does_not_have() -> None:
    found = [
        f"{path}:{line}: {words!r}: {CITE}"
        for path, text in read_texts(*PLACES)
        for line, words in find_dangling(text)
    ]
    assert found == []


def find_missing(pattern: re.Pattern[str], *places: str) -> list[str]:
    """Names that a pattern finds and that no path ends with, each with its place."""
    paths = [path for place in PLACES for path in (ROOT / place).rglob("*.*")]
    there = {
        "/".join(path.parts[start:])
        for path in paths
        for start in range(len(ROOT.parts), len(path.parts))
    }
    return [
        f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {found[0]} is not there"
        for path, text in read_texts(*places)
        for found in pattern.finditer(text)
        if found[0].strip("`") not in there
    ]


def test_every_cited_page_is_there() -> None:
    assert find_missing(_PAGE, "src", "docs", "examples", "deploy", "tools") == []


def test_every_file_that_the_code_names_is_there() -> None:
    assert find_missing(_FILE, "src", "tests") == []


def test_every_link_of_a_page_leads_to_a_file_and_its_heading() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    missing: list[str] = []
    for page in pages:
        prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        for path, _, anchor in _LINK.findall(prose):
            target = page.parent / path if path else page
            if not target.exists():
                missing.append(f"{page.name}: {path}")
            elif anchor and target.suffix == ".md" and anchor not in find_anchors(target):
                missing.append(f"{page.name}: {path}#{anchor}")
    assert missing == []


@cache
def find_anchors(page: Path) -> set[str]:
    """The names of a page's headings in links."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", each.strip().lower()) for each in headings)
    return {each.replace(" ", "-") for each in plain}


# --- examples -----------------------------------------------------------------------------------

RUN_BY = {
    "README.md": "tests/commands/test_documentation.py",
    "docs/capacity.md": "tests/commands/test_what_if_pages.py",
    "docs/compare.md": "tests/commands/test_what_if_pages.py",
    "docs/deploying.md": "tests/deploy/test_page.py",
    "docs/imports.md": "tests/commands/test_imports_page.py",
    "docs/optimum.md": "tests/commands/test_what_if_pages.py",
    "docs/output.md": "tests/commands/test_output_page.py",
    "docs/plugins/device-scoring.md": "tests/commands/test_device_scoring.py",
    "docs/plugins/tutorial.md": "tests/commands/test_plugin_tutorial.py",
    "docs/rebalance.md": "tests/commands/test_what_if_pages.py",
    "docs/record-and-replay.md": "tests/commands/test_what_if_pages.py",
    "docs/scenarios.md": "tests/commands/test_what_if_pages.py",
    "docs/sweeps.md": "tests/commands/test_sweep_page.py",
    "docs/what-if.md": "tests/commands/test_what_if_pages.py",
    **dict.fromkeys(
        (f"docs/walkthroughs/{path.name}" for path in (DOCS / "walkthroughs").glob("*.md")),
        "tests/e2e/test_walkthroughs.py",
    ),
}
"""Pages whose blocks of commands a test runs, whole or in part."""
NOT_RUN = {
    "CONTRIBUTING.md": "needs the sources of Kubernetes",
    "docs/configuration.md": "shows mistakes of files that are not there",
    "docs/conformance.md": "needs Kubernetes' own suites",
    "docs/extenders.md": "asks an extender that runs",
    "docs/gpu-extender.md": "asks an extender that runs",
    "docs/gpu.md": "changes a cluster that runs",
    "docs/informers.md": "goes on until it is stopped",
    "docs/log.md": "goes on until it is stopped",
    "docs/page.md": "goes on until it is stopped",
    "docs/plugins/gpu-packing.md": "asks a cluster that runs",
    "docs/plugins/wyq.md": "has a plugin that prints as it goes",
    "docs/running.md": "asks clusters that run",
    "docs/simulated-cluster.md": "goes on until it is stopped",
    "docs/study.md": "takes minutes",
}
"""Pages whose commands no test runs from its blocks, with the reason; their options are checked."""
_BLOCK = re.compile(r"^ *```(?:console|sh)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^ *(?:\$ )?(?:\w+=\S+ )*podium ((?:.*\\\n)*.*)$", re.MULTILINE)


def find_pages() -> dict[str, list[str]]:
    """The pages with blocks of commands, and these."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
    blocks = {str(path.relative_to(ROOT)): _BLOCK.findall(path.read_text()) for path in pages}
    return {page: found for page, found in blocks.items() if found}


def test_every_page_with_commands_is_followed_or_says_why_not() -> None:
    pages = find_pages().keys()
    assert RUN_BY.keys() & NOT_RUN.keys() == set()
    assert pages == (RUN_BY.keys() & pages) | NOT_RUN.keys()
    for page, test in RUN_BY.items():
        text = (ROOT / test).read_text()
        assert Path(page).name in text or Path(page).parent.name in text, (page, test)


def find_unrun_commands() -> list[tuple[str, str]]:
    return [
        (page, command.replace("\\\n", " "))
        for page, blocks in find_pages().items()
        if page in NOT_RUN
        for block in blocks
        for command in _COMMAND.findall(block)
    ]


@pytest.mark.parametrize(("page", "command"), find_unrun_commands())
def test_a_command_that_no_test_runs_has_options_that_exist(page: str, command: str) -> None:
    words = split_command(command)
    if words[0] == "run":  # kube-scheduler's flags have a test for each page of their own
        return
    build_app().parse_args(words, exit_on_error=False, print_error=False)


def split_command(text: str) -> Sequence[str]:
    """The words of one command, without what the shell does with it."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if word in ("|", "&", ">", "2>", "&&", ";"):
            break
        words.append(word)
    return words


# --- names in clusters and documents; gates -------------------------------------------------------

PREFIX = "podium.dev/"
_OWN = re.compile(r"(?<![\w/.-])podium(?:\.dev)?/[a-z][\w-]*")
_GATES = re.compile(r"`([A-Z]\w+)`")


def test_every_name_of_podiums_own_is_on_its_page_and_no_other() -> None:
    data = (path.read_text() for path in SOURCE.rglob("*.yaml"))
    in_data = {name for text in data for name in _OWN.findall(text) if name.startswith(PREFIX)}
    named = in_data | {text for text in find_texts() if _OWN.fullmatch(text)}
    assert named == {*_OWN.findall((DOCS / "names.md").read_text())}


def test_every_gate_is_read_or_has_a_reason_why_not() -> None:
    emulated = [Version(1, minor) for minor in range(NEWEST.minor - 3, NEWEST.minor + 1)]
    histories = [FeatureGates(emulated=each).known for each in emulated]
    gates = {gate for gate in FeatureGates() if not all(h[gate].locked for h in histories)}
    read = gates & (find_texts() | {plugin.gate for plugin in release().plugins})
    explained = {*_GATES.findall((DOCS / "feature-gates.md").read_text())}
    assert gates - read == explained


if __name__ == "__main__":
    drop_class_names()
