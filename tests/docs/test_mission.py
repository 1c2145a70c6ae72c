"""docs/mission.md has every row of the checklist, and what it names as evidence is there."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from support.suite import requirements

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGE = (DOCS / "mission.md").read_text()
CHECKLIST = ROOT.parent / "shared" / "mission-checklist.md"
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_LINK = re.compile(r"\[[^\]]+\]\(([\w/.-]*)#([\w-]+)\)")


class Row(NamedTuple):
    name: str
    what: str
    shown_by: tuple[str, ...]


def rows() -> list[Row]:
    found = []
    for line in PAGE.splitlines():
        if re.match(r"\| (S\d|X)-", line):
            name, what, shown_by = (cell.strip() for cell in line.strip("|").split(" | "))
            found.append(Row(name, what, tuple(shown_by.split("<br>"))))
    return found


@cache
def functions(path: str) -> frozenset[str]:
    text = (ROOT / path).read_text()
    return frozenset(re.findall(r"^(?:async )?def (test_\w+)\(", text, re.MULTILINE))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Of the headings, as they are linked to."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return frozenset(
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings
    )


def is_there(evidence: str) -> bool:
    if test := _TEST.fullmatch(evidence):
        return (ROOT / test[1]).exists() and test[2] in functions(test[1])
    if link := _LINK.fullmatch(evidence):
        page = DOCS / (link[1] or "mission.md")
        return page.exists() and link[2] in anchors(page)
    return False


def test_no_row_is_blank_and_none_is_there_twice() -> None:
    names = [row.name for row in rows()]
    assert len(names) == len(set(names)) == 520
    assert [row for row in rows() if not row.what or not all(row.shown_by)] == []


def test_what_a_row_names_is_there() -> None:
    assert [(row.name, each) for row in rows() for each in row.shown_by if not is_there(each)] == []


def test_the_count_at_the_top_is_that_of_the_rows() -> None:
    tested = [row for row in rows() if any(_TEST.fullmatch(each) for each in row.shown_by)]
    both = [row for row in tested if any(_LINK.fullmatch(each) for each in row.shown_by)]
    explained = len(rows()) - len(tested)
    told = re.search(
        r"^(\d+) rows: (\d+) are shown by tests \((\d+) of them [^)]+\), (\d+) are explained",
        PAGE,
        re.M,
    )
    assert told is not None
    assert tuple(map(int, told.groups())) == (len(rows()), len(tested), len(both), explained)


@requirements.CHECKLIST.skip_unless(CHECKLIST.exists())
def test_the_rows_are_those_of_the_checklist() -> None:
    wanted = re.findall(r"^\| \[.\] \| (\S+) \|", CHECKLIST.read_text(), re.MULTILINE)
    assert [row.name for row in rows()] == wanted
