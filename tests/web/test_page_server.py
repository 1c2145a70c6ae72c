"""The page's server through its socket: who gets in, what is said about it, what changes."""

import asyncio
import gzip
import json
import re
import socket
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.commands.document_schemas import require_valid
from support.waiting import PATIENCE_S, wait_until
from support.web.page_at_work import PageAtWork, busy_page, nodes, page_at_work

from podium.live.record_documents import QueuePartSizes
from podium.testing import FakeCluster, make_node, make_pod
from podium.web.cluster_document import MAX_CHANGED, ClusterChanges
from podium.web.event_stream import MAX_STREAMS, EventStreams
from podium.web.page_overview import PageChanges
from podium.web.script_bundle import bundle
from podium.web.static_files import static_files

MAX_WIRE_BYTES = 150_000


@pytest.fixture(scope="module")
def page() -> Iterator[PageAtWork]:
    with busy_page(3) as work:
        yield work


class Browser:
    """Asks as a browser would that has been let in."""

    def __init__(self, page: PageAtWork) -> None:
        split = urlsplit(page.link)
        self.host = split.netloc
        self.token = split.query.partition("=")[2]
        self.port = int(split.port or 0)

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        sent = {"Host": self.host, **{name.replace("_", "-"): v for name, v in headers.items()}}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in sent.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    @property
    def bearer(self) -> str:
        return f"Bearer {self.token}"

    def status(self, path: str, method: str = "GET", **headers: str) -> int:
        return self.ask(path, method, **headers)[0].status

    def document(self, path: str) -> Any:
        answer, body = self.ask(f"/data/{path}", Authorization=self.bearer)
        assert answer.status == 200, body
        return json.loads(body)


@pytest.fixture
def browser(page: PageAtWork) -> Browser:
    return Browser(page)


def test_nobody_gets_in_without_the_link(browser: Browser) -> None:
    for path in ("/data/cluster", "/data/events", "/play/steps", "/nothing"):
        assert browser.status(path) == 401
        assert browser.status(path, Authorization="Bearer wrong") == 401
        assert browser.status(path, Authorization=f"Basic {browser.token}") == 401
        assert browser.status(f"{path}?token={browser.token}") == 401
    assert browser.status("/?token=wrong") == 401


def test_the_files_of_the_page_hold_no_secret_and_leave_none(browser: Browser) -> None:
    for path in ("/", "/static/main.js", f"/?token={browser.token}"):
        answer, body = browser.ask(path)
        assert answer.status == 200
        assert answer.getheader("Set-Cookie") is None
        assert browser.token.encode() not in body


def test_a_cookie_opens_nothing(browser: Browser) -> None:
    """A browser sends cookies to all ports of a host, so whoever listens on one has them."""
    for name in (f"podium-page-{browser.port}", "token", "Authorization"):
        assert browser.status("/data/cluster", Cookie=f"{name}={browser.token}") == 401


@pytest.mark.parametrize("host", ["evil.example.com", "evil.example.com:{port}", "127.0.0.1", ""])
def test_a_name_that_was_rebound_to_this_machine_gets_nothing(browser: Browser, host: str) -> None:
    asked = host.format(port=browser.port)
    assert browser.status("/data/cluster", Host=asked, Authorization=browser.bearer) in (400, 421)


def test_another_site_gets_nothing_though_its_visitor_may(browser: Browser) -> None:
    let_in = {"Authorization": browser.bearer}
    assert browser.status("/data/queue", **let_in, Origin="https://evil.example.com") == 403
    assert browser.status("/data/queue", **let_in, Origin="null") == 403
    assert browser.status("/data/queue", **let_in, Sec_Fetch_Site="cross-site") == 403
    assert browser.status("/data/queue", **let_in, Sec_Fetch_Site="same-site") == 403
    own = f"http://{browser.host}"
    assert browser.status("/data/queue", **let_in, Origin=own) == 200
    followed = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    link = f"/?token={browser.token}"
    assert browser.status(link, **followed, Sec_Fetch_Dest="document") == 200
    assert browser.status(link, **followed, Sec_Fetch_Dest="iframe") == 403


def test_it_can_only_be_read(browser: Browser) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert browser.status("/data/queue", method, Authorization=browser.bearer) == 405
    answer, body = browser.ask("/data/queue", "HEAD", Authorization=browser.bearer)
    assert (answer.status, body) == (200, b"")


def test_every_answer_forbids_what_the_page_does_not_need(browser: Browser) -> None:
    for path in ("/", "/static/main.js", "/data/queue", "/nothing"):
        answer, _ = browser.ask(path, Authorization=browser.bearer)
        policy = answer.getheader("Content-Security-Policy") or ""
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert answer.getheader("Referrer-Policy") == "no-referrer"
    answer, _ = browser.ask("/data/queue", Authorization=browser.bearer)
    assert answer.getheader("Cache-Control") == "no-store"


def test_the_whole_page_is_small_over_the_wire(browser: Browser) -> None:
    sent = 0
    for name in (*static_files(), ""):
        path = f"/static/{name}" if name else "/"
        answer, body = browser.ask(path, Authorization=browser.bearer, Accept_Encoding="gzip")
        assert answer.status == 200
        sent += len(body)
    assert sent < MAX_WIRE_BYTES


def test_a_browser_is_not_sent_what_only_reports_have() -> None:
    asked = bundle({name: file.content.decode() for name, file in static_files().items()})
    assert "function showThroughput" in asked
    assert not re.search("showCompare|showWhatIf|showCapacity|barChart", asked)


def test_files_that_a_browser_has_are_not_sent_again(browser: Browser) -> None:
    answer, body = browser.ask("/static/main.js", Authorization=browser.bearer)
    tag = answer.getheader("ETag") or ""
    assert body == static_files()["main.js"].content
    again, nothing = browser.ask("/static/main.js", Authorization=browser.bearer, If_None_Match=tag)
    assert (again.status, nothing) == (304, b"")


@pytest.mark.parametrize(
    "path",
    ["../pyproject.toml", "nodes/nobody", "pods/default/nobody", "pods/a", "x", "", "nodes/a/b"],
)
def test_what_is_not_there_is_said_in_words(browser: Browser, path: str) -> None:
    answer, body = browser.ask(f"/data/{path}", Authorization=browser.bearer)
    assert answer.status == 404
    assert body.startswith(b"the")


def test_documents_say_their_kind_and_are_compressed_on_request(browser: Browser) -> None:
    kinds = {
        "overview": "PageOverview",
        "cluster": "ClusterView",
        "fragmentation": "FragmentationView",
        "nodes/node-00001": "NodeView",
        "pods-on-nodes": "PodsOnNodesView",
        "pods-on-nodes?from=1": "PodsOnNodesView",
        "pods-on-nodes?from=x&since=y": "PodsOnNodesView",
        "node-states": "NodeStatesView",
        "gpu-cards": "GPUCardsView",
        "gpu-cards?node=node-00001&node=nobody": "GPUCardsView",
        "queue": "QueueView",
        "pods?q=gia": "PodSearch",
        "pods/default/giant": "PodView",
        "pods/default/web-1": "PodView",
        "pods/default/giant/analysis": "PodAnalysis",
        "pods/default/placed/analysis": "PodAnalysis",
        "throughput?span=60": "ThroughputView",
        "configuration": "ConfigurationView",
    }
    for path, kind in kinds.items():
        found = browser.document(path)
        assert found["kind"] == kind
        require_valid(found)
    bearer = browser.bearer
    answer, body = browser.ask("/data/configuration", Authorization=bearer, Accept_Encoding="gzip")
    assert answer.getheader("Content-Encoding") == "gzip"
    assert json.loads(gzip.decompress(body))["kind"] == "ConfigurationView"


def test_the_queue_groups_those_who_wait_by_reason(browser: Browser) -> None:
    queue = browser.document("queue")
    groups = {group["reason"]: group for group in queue["groups"]}
    assert groups["Insufficient cpu"]["count"] == 2
    assert "default/giant" in groups["Insufficient cpu"]["pods"]
    assert "a node is added" in groups["Insufficient cpu"]["wokenBy"]
    assert groups["held back by SchedulingGates"]["pods"] == ["default/gated"]


def test_a_pod_that_fits_nowhere_is_analysed_beside_the_scheduler(
    browser: Browser, page: PageAtWork
) -> None:
    before = page.do(lambda: page.cluster.engine.cluster.usage.generation)
    found = browser.document("pods/default/giant/analysis")
    assert found["causes"][0]["sentence"].startswith("The pod asks for 64 cpu")
    assert any("cpu request" in each["sentence"] for each in found["proposals"])
    assert all(each["commands"] for each in found["proposals"])
    rejected = found["matrix"]["rejected"][0]
    assert rejected["objections"]["node-00000"]["NodeResourcesFit"]
    assert page.do(lambda: page.cluster.engine.cluster.usage.generation) == before


def test_a_pod_that_has_a_node_shows_its_matrix(browser: Browser) -> None:
    found = browser.document("pods/default/placed")
    best = found["matrix"]["nodes"][0]
    assert best["name"] == found["matrix"]["chosen"] == found["decision"]["node"]
    weights = [each["weight"] for each in found["matrix"]["scorers"]]
    assert best["total"] == sum(score["weighted"] for score in best["scores"].values())
    assert all(weights)


class Stream:
    """A browser's stream of changes."""

    def __init__(self, browser: Browser, mark: str = "", cut_after: int | None = None) -> None:
        self.socket = socket.create_connection(("127.0.0.1", browser.port), timeout=PATIENCE_S)
        if cut_after is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, cut_after)
        head = [
            "GET /data/events HTTP/1.1",
            f"Host: {browser.host}",
            f"Authorization: {browser.bearer}",
            *([f"Last-Event-ID: {mark}"] if mark else []),
        ]
        self.socket.sendall(("\r\n".join(head) + "\r\n\r\n").encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])

    def next(self) -> Any:
        """The next message."""
        for line in self.file:
            if line.startswith(b"data: "):
                return json.loads(line.removeprefix(b"data: "))
        raise AssertionError("the stream has ended")

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def test_changes_are_told_and_go_on_after_a_cut(browser: Browser, page: PageAtWork) -> None:
    stream = Stream(browser)
    first = stream.next()
    assert first["cluster"] == {"reload": True}
    stream.close()
    page.do(lambda: page.cluster.schedule(make_pod("late", requests={"cpu": "500m"})))
    again = Stream(browser, first["mark"])
    told = again.next()
    again.close()
    names = browser.document("cluster")["names"]
    where = page.do(page.cluster.where)["late"]
    assert [names[at] for at in told["cluster"]["changed"]] == [where]
    assert told["pods"] == first["pods"] + 1
    assert told["mark"] != first["mark"]


def test_a_mark_of_another_time_is_answered_with_reload(browser: Browser) -> None:
    for mark in ("x", "1-2-3.4.5.6_0", "." * 500, "9.9.9.9999999999999999999999"):
        stream = Stream(browser, mark)
        assert stream.next()["cluster"] == {"reload": True}
        stream.close()


def test_there_is_a_bound_on_pages_that_are_open(browser: Browser) -> None:
    streams = [Stream(browser) for _ in range(MAX_STREAMS)]
    refused = Stream(browser)
    assert refused.status == 503
    for stream in (*streams, refused):
        stream.close()

    def is_free() -> bool:
        stream = Stream(browser)
        stream.close()
        return stream.status == 200

    wait_until(is_free)


def test_a_browser_that_does_not_read_holds_nobody_up_and_queues_nothing() -> None:
    cluster = FakeCluster(*nodes(MAX_CHANGED // 4), validate=False)
    with page_at_work(cluster) as work:
        browser = Browser(work)
        slow = Stream(browser, cut_after=4096)
        quick = Stream(browser)
        quick.next()

        def fill(turn: int) -> None:
            for at in range(MAX_CHANGED // 4):
                pod = make_pod(f"p-{turn}-{at}", requests={"cpu": "1m"}, node=f"node-{at:05d}")
                cluster.put(pod)

        for turn in range(3):
            work.do(lambda turn=turn: fill(turn))  # type: ignore[misc]
            assert quick.next()["pods"] == (turn + 1) * MAX_CHANGED // 4
        quick.close()
        slow.close()


def test_many_changes_at_once_are_read_anew_instead_of_listed() -> None:
    cluster = FakeCluster(*nodes(MAX_CHANGED + 1), validate=False)
    with page_at_work(cluster) as work:
        first = Stream(Browser(work))
        mark = first.next()["mark"]
        first.close()

        def fill() -> None:
            for at in range(MAX_CHANGED + 1):
                cluster.put(make_pod(f"p-{at}", node=f"node-{at:05d}"))

        work.do(fill)
        stream = Stream(Browser(work), mark)
        assert stream.next()["cluster"] == {"reload": True}
        stream.close()


def test_nodes_that_come_are_read_anew() -> None:
    cluster = FakeCluster(make_node("a"), validate=False)
    with page_at_work(cluster) as work:
        browser = Browser(work)
        stream = Stream(browser)
        mark = stream.next()["mark"]
        stream.close()
        work.do(lambda: cluster.put(make_node("b")))
        again = Stream(browser, mark)
        assert again.next()["cluster"] == {"reload": True}
        again.close()
        assert browser.document("cluster")["names"] == ["a", "b"]


def test_streams_that_are_open_end_with_the_server(caplog: pytest.LogCaptureFixture) -> None:
    with page_at_work(FakeCluster(make_node("a"), validate=False)) as work:
        stream = Stream(Browser(work))
        stream.next()
    assert stream.file.read().endswith(b"0\r\n\r\n")
    stream.close()
    assert not caplog.records


def test_a_browser_that_hangs_up_frees_its_stream_at_once() -> None:
    class NothingNew:
        def changes(self, mark: str) -> PageChanges:
            nothing = QueuePartSizes(0, 0, 0, 0, 0)
            moment = "2026-01-01T00:00:00.000000Z"
            return PageChanges(
                mark="m", at=moment, nodes=0, pods=0, queue=nothing, cluster=ClusterChanges()
            )

    async def hang_up() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def run() -> int:
        # Whoever looked only when there is something to say would wait for an hour.
        streams = EventStreams(NothingNew(), interval_s=3600.0)
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        for _ in range(2 * MAX_STREAMS):
            await streams.serve("", hang_up, send)
        return sum(message["type"] == "http.response.start" for message in sent)

    assert asyncio.run(run()) == 2 * MAX_STREAMS
