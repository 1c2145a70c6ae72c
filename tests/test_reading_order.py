"""What newcomers are told about where things are is true."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "podium"
ROW = re.compile(r"^\| (Where|What|How)\b[^|]*\| `([\w/.]+)` \|$", re.MULTILINE)
QUESTIONS = ROW.findall((ROOT / "CONTRIBUTING.md").read_text())
QUOTED = re.compile(r"`([\w/]+(?:\.py|/))`")


def test_there_are_forty_questions_with_an_answer() -> None:
    assert len(QUESTIONS) >= 40


@pytest.mark.parametrize("file", [file for _, file in QUESTIONS])
def test_the_file_that_answers_a_question_is_there(file: str) -> None:
    assert (SOURCE / file).is_file()


def test_every_file_that_the_architecture_names_is_there() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    rows = text[text.index("## Where a rule lives") :]
    missing: list[str] = []
    for row in rows.splitlines():
        folder = SOURCE
        for name in QUOTED.findall(row):
            # A name may be told from the folder of the one before it, or from the folder above.
            near = [base / name for base in (SOURCE, folder, folder.parent)]
            found = next((path for path in near if path.exists()), None)
            if found is None:
                missing.append(name)
            else:
                folder = found if found.is_dir() else found.parent
    assert missing == []
