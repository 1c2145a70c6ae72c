"""Every walkthrough is followed from its first command to its last, in a cluster of its own."""

import shutil
from pathlib import Path

import pytest
from support.apiserver.kubectl_process import NEEDED
from support.suite.requirements import KUBECTL
from support.walkthroughs.following import ROOT, follow

WALKTHROUGHS = ROOT / "docs" / "walkthroughs"
INDEX = WALKTHROUGHS / "README.md"
PAGES = sorted(page for page in WALKTHROUGHS.glob("*.md") if page != INDEX)


# The walk that `make test` takes.
QUICK = "from-pod-to-node"


def marks_of(page: Path) -> list[pytest.MarkDecorator]:
    return [] if page.stem == QUICK else [pytest.mark.slow]


@pytest.fixture
def kubectl() -> None:
    if shutil.which("kubectl") is None and not NEEDED:
        KUBECTL.skip()


@pytest.mark.usefixtures("kubectl")
@pytest.mark.parametrize("page", [pytest.param(p, id=p.stem, marks=marks_of(p)) for p in PAGES])
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    follow(page, tmp_path)


def test_the_index_names_every_page() -> None:
    index = INDEX.read_text()
    for page in PAGES:
        assert f"]({page.name})" in index, page.name


# the runner itself


def written(directory: Path, text: str) -> Path:
    page = directory / "page.md"
    page.write_text(text)
    return page


HONEST = """# A page

```yaml some.yaml
a: 1
```

```console
$ export NAME=web && cd /
$ echo "$NAME-53148ea400-jlxnl is 12s old" && cd - > /dev/null
web-66f7b0ba2c-4zbst is 3m5s old
$ cat some.yaml && cat <<END
> more
> END
a: 1
more
$ seq 9
1
...
9
$ cat missing
cat: missing: No such file or directory
```
"""


def test_a_page_whose_commands_print_what_it_shows_is_followed_to_its_end(tmp_path: Path) -> None:
    follow(written(tmp_path, HONEST), tmp_path)


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("$ echo one\n$ echo two\ntwo", ["page.md:2: $ echo one", "got:\n    one"]),
        ("$ echo one\ntwo", ["expected:\n    two\ngot:\n    one"]),
        ("$ echo one\none\n...\ntwo", ["    ...\n    two\ngot:\n    one"]),
        ("$ false", ["(exit code 1)"]),
        ("$ false &", ["in the background ended with "]),
    ],
)
def test_a_page_that_shows_something_else_is_told_with_line_and_output(
    block: str, told: list[str], tmp_path: Path
) -> None:
    page = written(tmp_path, f"```console\n{block}\n```\n")
    with pytest.raises(AssertionError) as raised:
        follow(page, tmp_path)
    for text in told:
        assert text in str(raised.value)
