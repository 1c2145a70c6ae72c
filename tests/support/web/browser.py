"""One real browser for all tests, or a line that says why there is none."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from support.suite.requirements import CHROMIUM

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
NEEDED = "PODIUM_NEEDS_BROWSER"
# Root has no sandbox, and containers have little shared memory and no GPU.
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]


@contextmanager
def real_browser() -> "Iterator[Browser]":
    """Chromium without a window. Skips without one, unless it is said to be needed."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        assert not os.environ.get(NEEDED), CHROMIUM.reason
        CHROMIUM.skip()
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        except api.Error:
            if os.environ.get(NEEDED):
                raise
            CHROMIUM.skip()
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: "Browser",
    link: str,
    *,
    width: int = 1200,
    height: int = 800,
    scheme: str = "light",
    motion: str = "reduce",
) -> "Iterator[Page]":
    """A page of one's own, which must have nothing to complain of."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion=motion,  # type: ignore[arg-type]
    )
    complaints: list[str] = []
    page = context.new_page()
    page.on("console", lambda told: complaints.append(told.text) if told.type == "error" else None)
    page.on("pageerror", lambda problem: complaints.append(str(problem)))
    page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
    page.on("request", lambda asked: _note_stranger(asked.url, link, complaints))
    page.set_default_timeout(30_000)
    try:
        page.goto(link)
        yield page
        assert not complaints
    finally:
        context.close()


def _note_stranger(url: str, link: str, complaints: list[str]) -> None:
    """The page speaks with nobody but where it comes from."""
    origin = link.partition("/?")[0]
    if not url.startswith((origin, "data:", "blob:", "file:")):
        complaints.append(f"asked another host: {url}")
