"""Health pages: all checks together, one by one, with words for people."""

import asyncio

import pytest
from support.live.management_pages import OPEN, Management, Page, management

from podium.live.serving import NOT_SYNCHRONIZED, PING, Check


def get(path: str, *checks: Check, flags: tuple[str, ...] = (OPEN,)) -> Page:
    endpoints = management(*flags, healthz=checks, readyz=checks)
    return asyncio.run(endpoints.get(path))


WELL = Check("shutdown", lambda: None)
ILL = Check("sched-handler-sync", lambda: NOT_SYNCHRONIZED)


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_all_is_well(path: str) -> None:
    page = get(path, PING)
    assert (page.status, page.text) == (200, "ok")
    assert page.headers["content-type"] == "text/plain; charset=utf-8"
    assert page.headers["cache-control"] == "no-cache, private"
    assert page.headers["x-content-type-options"] == "nosniff"


def test_without_any_check_ping_is_one() -> None:
    assert get("/readyz?verbose").text == "[+]ping ok\nreadyz check passed\n"


def test_livez_knows_nothing_of_other_checks() -> None:
    assert get("/livez?verbose", ILL).text == "[+]ping ok\nlivez check passed\n"


def test_verbose_lists_checks_in_order() -> None:
    page = get("/readyz?verbose", WELL, PING)
    assert page.text == "[+]shutdown ok\n[+]ping ok\nreadyz check passed\n"


def test_a_failure_is_always_listed_and_its_reason_withheld() -> None:
    page = get("/readyz", WELL, ILL)
    assert page.status == 500
    assert page.text == (
        "[+]shutdown ok\n[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n"
    )


def test_an_excluded_check_is_not_made() -> None:
    page = get("/readyz?verbose&exclude=sched-handler-sync", WELL, ILL)
    assert page.status == 200
    assert page.text == (
        "[+]shutdown ok\n[+]sched-handler-sync excluded: ok\nreadyz check passed\n"
    )


def test_what_cannot_be_excluded_is_named() -> None:
    page = get("/readyz?verbose&exclude=b&exclude=a", PING)
    assert page.text == (
        '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "a","b"\n'
        "readyz check passed\n"
    )


def test_a_check_has_a_page_of_its_own() -> None:
    assert get("/readyz/shutdown", WELL).text == "ok"
    page = get("/readyz/sched-handler-sync", ILL)
    assert page.status == 500
    assert page.text == "internal server error: handlers are not fully synchronized\n"


def test_other_checks_have_none() -> None:
    page = get("/readyz/etcd", PING)
    assert (page.status, page.text) == (404, "404 page not found\n")


def test_a_check_that_breaks_fails() -> None:
    def broken() -> str | None:
        raise RuntimeError("no idea")

    page = get("/readyz/odd", Check("odd", broken))
    assert page.text == "internal server error: no idea\n"


def test_any_method_will_do() -> None:
    endpoints = management()
    for method in ("POST", "HEAD", "DELETE"):
        assert asyncio.run(endpoints.ask(method, "/healthz")).status == 200


def test_the_pages_of_single_checks_are_not_open_by_default() -> None:
    assert get("/healthz", PING, flags=()).status == 200
    assert get("/healthz/ping", PING, flags=()).status == 403


def test_results_are_counted() -> None:
    async def look(endpoints: Management) -> str:
        await endpoints.get("/readyz")
        await endpoints.get("/readyz")
        await endpoints.get("/livez")
        return (await endpoints.get("/metrics/slis")).text

    text = asyncio.run(look(management(OPEN, readyz=(WELL, ILL))))
    assert 'kubernetes_healthcheck{name="shutdown",type="readyz"} 1.0' in text
    assert 'kubernetes_healthcheck{name="sched-handler-sync",type="readyz"} 0.0' in text
    failed = 'kubernetes_healthchecks_total{name="sched-handler-sync",status="error",type="readyz"}'
    assert f"{failed} 2.0" in text
    assert "process_start_time_seconds 1.7e+09" in text
    assert "# HELP kubernetes_healthcheck [STABLE] This metric records" in text


def test_results_are_forgotten_when_asked() -> None:
    async def look(endpoints: Management) -> str:
        await endpoints.get("/readyz")
        assert (await endpoints.ask("DELETE", "/metrics/slis")).text == "metrics reset\n"
        return (await endpoints.get("/metrics/slis")).text

    assert "kubernetes_healthcheck" not in asyncio.run(look(management(OPEN)))
