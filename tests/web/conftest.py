"""One browser, one small cluster and one large one, for all tests of the page."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from support.web.browser import real_browser
from support.web.page_at_work import PageAtWork, busy_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FEW, MANY = 3, 5_000


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    with real_browser() as found:
        yield found


@pytest.fixture(scope="session")
def small_page() -> Iterator[PageAtWork]:
    with busy_page(FEW) as work:
        yield work


@pytest.fixture(scope="session")
def large_page() -> Iterator[PageAtWork]:
    with busy_page(MANY) as work:
        yield work


@pytest.fixture(params=[FEW, MANY])
def any_page(request: pytest.FixtureRequest) -> PageAtWork:
    """Each of the two in turn."""
    name = "small_page" if request.param == FEW else "large_page"
    found: PageAtWork = request.getfixturevalue(name)
    return found
