"""The steps of a transcript that talk HTTP: single requests, and watches.

A watch is read by whoever collects it, not beside the other steps: what it sends in between waits
in the connection.
"""

import gzip
import http.client
import json
from typing import Any, Final

from support.apiserver.apiserver_process import ApiServer
from support.apiserver.transcript_normalising import Normaliser, Raw
from support.waiting import PATIENCE_S, Deadline

LINGER_S: Final = 0.2
"""How long a watch that has sent all expected events may still send one too many."""
_USER_AGENT: Final = "podium-replay/1.0"  # the field manager of what is written without naming one
_HEADERS: Final = ("Content-Type", "Warning", "Retry-After")


def request_headers(server: ApiServer, step: Raw, *, has_body: bool) -> dict[str, str]:
    """The headers of a step: the usual ones, without those that it sets to null."""
    headers = {"User-Agent": _USER_AGENT, "Accept": "application/json"}
    if has_body:
        headers["Content-Type"] = "application/json"
    auth = step.get("auth", "admin")
    if auth == "admin" and server.token:
        headers["Authorization"] = f"Bearer {server.token}"
    elif auth == "wrong":
        headers["Authorization"] = "Bearer not-a-known-token"
    given = {**headers, **step.get("headers", {})}
    return {name: value for name, value in given.items() if value is not None}


def normalise_headers(
    response: http.client.HTTPResponse, step: Raw, normaliser: Normaliser
) -> dict[str, Any]:
    """The headers that are compared: some always, others where a step asks for them."""
    found: dict[str, Any] = {}
    wanted = step.get("showHeaders", [])
    for name in (*_HEADERS, *wanted):
        values = [normaliser.string(value) for value in response.headers.get_all(name, [])]
        if values:
            found[name] = values[0] if len(values) == 1 and name != "Warning" else values
        elif name in wanted:
            found[name] = None
    return found


class Reply:
    """The answer to one request, read to its end."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        content = response.read()
        if response.headers.get("Content-Encoding") == "gzip":
            content = gzip.decompress(content)
        self.response = response
        self.is_json = "json" in response.headers.get("Content-Type", "")
        self.is_empty = not content
        self.is_protobuf = content.startswith(b"k8s\0")
        self.text = content.decode("utf-8", "replace")

    def decode(self) -> Any:
        """The document; of a watch that has ended those of all lines."""
        try:
            return json.loads(self.text)
        except ValueError:
            lines = [line for line in self.text.splitlines() if line.strip()]
            return {"stream": [json.loads(line) for line in lines]}


class Connections:
    """Connections to a server: one for each request, and those that steps share by name."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._named: dict[str, http.client.HTTPConnection] = {}

    def request(self, step: Raw) -> Reply:
        data = json.dumps(step["body"]) if step.get("body") is not None else step.get("rawBody")
        name = step.get("connection")
        connection = self._named.get(name) if name else None
        if connection is None:
            connection = self._server.connect(PATIENCE_S)
        if name:
            self._named[name] = connection
        try:
            connection.request(
                step["method"],
                step["path"],
                body=None if data is None else data.encode(),
                headers=request_headers(self._server, step, has_body=data is not None),
            )
            return Reply(connection.getresponse())
        finally:
            if not name:
                connection.close()

    def call(
        self, method: str, path: str, body: Any = None, media_type: str = "application/json"
    ) -> tuple[int, Any]:
        """A request that is no step: its status, 0 without an answer, and the document if any."""
        headers = {} if body is None else {"Content-Type": media_type}
        try:
            reply = self.request({"method": method, "path": path, "body": body, "headers": headers})
        except (OSError, http.client.HTTPException):
            return 0, None
        return reply.response.status, reply.decode() if reply.is_json else None

    def close(self) -> None:
        for connection in self._named.values():
            connection.close()
        self._named.clear()


class Watch:
    """A watch that has been started: its lines as far as they have been read."""

    def __init__(self, server: ApiServer, step: Raw) -> None:
        self.step = step
        self.closed = False
        self._too_slow = False
        self._lines: list[bytes] = []
        self._connection = server.connect(PATIENCE_S)
        self._connection.connect()
        self._socket = self._connection.sock
        headers = request_headers(server, step, has_body=False)
        self._connection.request("GET", step["path"], headers=headers)
        self.response = self._connection.getresponse()

    def read(self, count: int, *, bookmarks: bool = False, timeout_s: float = PATIENCE_S) -> None:
        """Read until so many events are there, or the server has ended the watch."""
        deadline = Deadline(timeout_s)
        while len(self._lines if bookmarks else self.events) < count and self._read_line(deadline):
            pass

    def read_to_end(self, timeout_s: float = PATIENCE_S) -> None:
        deadline = Deadline(timeout_s)
        while self._read_line(deadline):
            pass

    def _read_line(self, deadline: Deadline) -> bool:
        """Whether a line came in time; a response that timed out cannot be read again."""
        if self.closed or self._too_slow:
            return False
        self._socket.settimeout(deadline.timeout_s)
        try:
            line = self.response.readline()
        except TimeoutError:
            self._too_slow = True
            return False
        except (OSError, http.client.HTTPException):
            line = b""
        self.closed = not line
        if line.strip():
            self._lines.append(line)
        return not self.closed

    @property
    def events(self) -> list[Raw]:
        """All but plain bookmarks, which come when the server likes."""
        return [json.loads(line) for line in self._lines if not _is_plain_bookmark(line)]

    @property
    def has_bookmark(self) -> bool:
        return any(map(_is_plain_bookmark, self._lines))

    def close(self) -> None:
        self.response.close()
        self._connection.close()


def _is_plain_bookmark(line: bytes) -> bool:
    """One that only says how far the watch is, not that the initial events have ended."""
    marks_start = b"k8s.io/initial-events-end" in line
    return b'"type":"BOOKMARK"' in line.replace(b" ", b"") and not marks_start
