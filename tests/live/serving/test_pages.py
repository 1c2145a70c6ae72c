"""Configuration, metrics, debugging, and what is not there."""

import asyncio
import gzip
from typing import Any

import pytest
from support.live.management_pages import OPEN, STARTED_AT, Page, management

from podium.live.exposition import Exposition
from podium.live.metric_definitions import PREEMPTION_ATTEMPTS
from podium.testing import make_pod


def get(path: str, method: str = "GET", body: bytes = b"", **fields: Any) -> Page:
    packing: str = fields.pop("accept_encoding", "")
    headers: dict[str, Any] = {"accept_encoding": packing}
    return asyncio.run(management(OPEN, **fields).ask(method, path, body, **headers))


@pytest.mark.parametrize(
    "path", ["/", "/metrics/", "/configz/x", "/debug/pprof/", "/debug/flags/v", "/apis"]
)
def test_what_is_not_there_is_not_found(path: str) -> None:
    page = get(path)
    assert (page.status, page.text) == (404, "404 page not found\n")
    assert page.headers["cache-control"] == "no-cache, private"
    assert page.headers["x-content-type-options"] == "nosniff"


def test_the_configuration_is_under_its_key() -> None:
    page = get("/configz", "POST", configuration=lambda: {"parallelism": 16})
    assert page.headers["content-type"] == "application/json"
    assert page.text == '{"componentconfig":{"parallelism":16}}'


def metrics() -> Exposition:
    shown = Exposition(process=False)
    shown.counter(PREEMPTION_ATTEMPTS).of().add(7)
    return shown


def test_metrics_are_text_for_prometheus() -> None:
    page = get("/metrics", metrics=metrics())
    assert page.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert page.headers["process-start-time-unix"] == str(int(STARTED_AT))
    assert "scheduler_preemption_attempts_total 7.0\n" in page.text


def test_metrics_are_packed_for_those_who_can_unpack_them() -> None:
    page = get("/metrics", metrics=metrics(), accept_encoding="gzip, deflate")
    assert page.headers["content-encoding"] == "gzip"
    assert b"scheduler_preemption_attempts_total 7.0" in gzip.decompress(page.body)


def test_deleting_metrics_resets_them() -> None:
    shown = metrics()
    assert get("/metrics", "DELETE", metrics=shown).text == "metrics reset\n"
    assert "scheduler_preemption_attempts_total 0.0\n" in get("/metrics", metrics=shown).text


def test_resources_of_pods_are_the_leaders_to_tell() -> None:
    pods = [make_pod("a", requests={"cpu": "1"})]
    page = get("/metrics/resources", pods=lambda: pods)
    assert 'kube_pod_resource_request{namespace="default",node="",pod="a"' in page.text
    assert page.headers["process-start-time-unix"] == str(int(STARTED_AT))
    empty = get("/metrics/resources", pods=lambda: pods, leading=lambda: False)
    assert (empty.status, empty.body) == (200, b"")


def test_resources_of_many_pods_come_in_pieces() -> None:
    pods = [make_pod(f"p{i}", requests={"cpu": "1"}) for i in range(1000)]
    page = get("/metrics/resources", pods=lambda: pods)
    assert page.pieces > 4
    assert page.text.count("kube_pod_resource_request{") == 1000
    assert page.text.count("# TYPE kube_pod_resource_request gauge") == 1


def test_verbosity_can_be_set() -> None:
    levels: list[int] = []
    page = get("/debug/flags/v", "PUT", b"4", set_verbosity=levels.append)
    assert (page.status, levels) == (200, [4])
    assert page.text == "successfully set klog.logging.verbosity to 4\n"


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (b"loud", "invalid syntax"),
        (b"", "invalid syntax"),
        (b" 4", "invalid syntax"),
        (b"1_0", "invalid syntax"),
        (b"99999999999", "value out of range"),
    ],
)
def test_a_verbosity_must_be_a_number(written: bytes, problem: str) -> None:
    page = get("/debug/flags/v", "PUT", written, set_verbosity=lambda _: None)
    assert page.status == 400
    text = written.decode()
    assert page.text == (
        f'failed set klog.logging.verbosity {text}: strconv.ParseInt: parsing "{text}": {problem}\n'
    )


def test_verbosity_cannot_be_read() -> None:
    page = get("/debug/flags/v", set_verbosity=lambda _: None)
    assert (page.status, page.text) == (406, "unsupported http method\n")


def test_flags_that_can_be_set_are_listed() -> None:
    page = get("/debug/flags", set_verbosity=lambda _: None)
    assert page.headers["content-type"].startswith("text/html")
    assert "<tr>v<br>" in page.text


def test_a_body_that_is_too_large_is_not_read() -> None:
    page = get("/debug/flags/v", "PUT", b"1" * 100_000, set_verbosity=lambda _: None)
    assert page.status == 413


def test_a_page_that_breaks_says_so() -> None:
    def broken() -> dict[str, object]:
        raise RuntimeError("out of order")

    page = get("/configz", configuration=broken)
    assert page.status == 500
    assert "out of order" not in page.text
    assert page.headers["cache-control"] == "no-cache, private"
