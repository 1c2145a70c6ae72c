"""One browser, a small cluster, a large one and a real one, and a report, for tests of the page."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.commands.command_line import EXAMPLE, podium
from support.e2e.up_process import UpProcess, up
from support.web.browser import real_browser
from support.web.page_at_work import PageAtWork, busy_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FEW, MANY = 3, 5_000


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """For one module: while it is there, this thread counts as running an event loop."""
    with real_browser() as found:
        yield found


@pytest.fixture(autouse=True)
def _free_event_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests of the same module that use no browser may run event loops, whichever comes first."""
    held = asyncio._get_running_loop()
    if held is None or "browser" in request.fixturenames:
        yield
        return
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(held)


@pytest.fixture(scope="session")
def small_page() -> Iterator[PageAtWork]:
    with busy_page(FEW) as work:
        yield work


@pytest.fixture(scope="session")
def large_page() -> Iterator[PageAtWork]:
    with busy_page(MANY) as work:
        yield work


@pytest.fixture
def report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """What `podium simulate --html` writes for the examples."""
    target = tmp_path / "report.html"
    run = podium(capsys, "simulate", *EXAMPLE, "--html", str(target))
    assert run.code == 1
    assert "without a node" in run.out
    return target


@pytest.fixture(params=[FEW, MANY])
def any_page(request: pytest.FixtureRequest) -> PageAtWork:
    """Each of the two in turn."""
    name = "small_page" if request.param == FEW else "large_page"
    found: PageAtWork = request.getfixturevalue(name)
    return found


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UpProcess]:
    """A real `podium up`, whose page can be played with."""
    with up(tmp_path_factory.mktemp("played"), str(FEW)) as cluster:
        yield cluster
