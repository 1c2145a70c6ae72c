"""What a comment or a page cites can be opened by whoever reads it.

A rule of upstream's is cited by the file and the function that have it, one of ours by a file of
the repository or a page under docs/. Sections of documents that are not in the repository, or that
are not even named, are what this finds.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLACES = ("src", "tests", "docs", "examples", "deploy", "tools")
SUFFIXES = {".c", ".css", ".cu", ".html", ".js", ".md", ".py", ".sh", ".toml", ".yaml"}
REMEDY = "cite the upstream file and function, or a page under docs/"

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
        f"{path}:{line}: {words!r}: {REMEDY}"
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
