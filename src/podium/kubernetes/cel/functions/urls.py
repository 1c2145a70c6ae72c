"""URLs as CEL values: absolute ones and absolute paths, as Go's `url.ParseRequestURI` has them."""

import re
from typing import NamedTuple

from podium.kubernetes.cel.errors import CelError
from podium.kubernetes.cel.library import Functions, parsing_cost
from podium.kubernetes.cel.values import Opaque

URLS = Functions()
_define = URLS.define

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")
_ESCAPED = re.compile(r"%([0-9a-fA-F]{2})")
_PORT = re.compile(r"(?::[0-9]*)?")
_PATH_SAFE = frozenset(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~$&+,/:;=@!'()*[]"
)


class _Parts(NamedTuple):
    scheme: str
    host: str
    path: str
    query: str


class Url(Opaque):
    __slots__ = ("parts",)
    TYPE_NAME = "kubernetes.URL"

    def __init__(self, parts: _Parts) -> None:
        self.parts = parts

    def same(self, other: "Url") -> bool:
        return self.parts == other.parts


def _parse(text: str) -> _Parts:
    problem = f'parse "{text}": invalid URI for request'
    if not text or any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise CelError(f"URL parse error during conversion from string: {problem}")
    scheme, rest = "", text
    match = _SCHEME.match(text)
    if match is not None:
        scheme, rest = match[1].lower(), text[match.end() :]
    rest, _, query = rest.partition("?")
    host = ""
    if scheme and rest.startswith("//") and not rest.startswith("///"):
        authority, slash, path = rest[2:].partition("/")
        host, rest = authority.rpartition("@")[2], slash + path
    elif not rest.startswith("/"):
        raise CelError(f"URL parse error during conversion from string: {problem}")
    port = host[host.rfind("]") + 1 :] if host.startswith("[") else host[max(host.rfind(":"), 0) :]
    bad_port = (host.startswith("[") or ":" in host) and _PORT.fullmatch(port) is None
    if bad_port or " " in host or _BAD_ESCAPE.search(rest) or _BAD_ESCAPE.search(host):
        raise CelError(f"URL parse error during conversion from string: {problem}")
    return _Parts(scheme, host, rest, query)


def _unescape_text(text: str) -> str:
    raw = re.sub(rb"%([0-9a-fA-F]{2})", lambda m: bytes([int(m[1], 16)]), text.encode())
    return raw.decode(errors="replace")


def _url_cost(text: str, *_: object) -> int:
    return parsing_cost(text) + len(text) // 2


@_define("url(string) -> url", cost=_url_cost)
def _url(text: str) -> Url:
    return Url(_parse(text))


@_define("isURL(string) -> bool", cost=_url_cost)
def is_url(text: str) -> bool:
    try:
        _parse(text)
    except CelError:
        return False
    return True


@_define("(url).getScheme() -> string")
def _scheme(url: Url) -> str:
    return url.parts.scheme


@_define("(url).getHost() -> string")
def _host(url: Url) -> str:
    return url.parts.host


@_define("(url).getHostname() -> string")
def _hostname(url: Url) -> str:
    host = url.parts.host
    if host.startswith("["):
        return host[1 : host.find("]")]
    return host.partition(":")[0]


@_define("(url).getPort() -> string")
def _port(url: Url) -> str:
    host = url.parts.host
    return host[host.rfind("]") + 1 :].partition(":")[2]


def _path_cost(url: Url, *_: object) -> int:
    return 1 + len(url.parts.path)


@_define("(url).getEscapedPath() -> string", cost=_path_cost)
def _escaped_path(url: Url) -> str:
    path = url.parts.path
    if _ESCAPED.search(path) or all(byte in _PATH_SAFE for byte in path.encode()):
        return path
    return "".join(chr(b) if b in _PATH_SAFE else f"%{b:02X}" for b in path.encode())


def _query_cost(url: Url, *_: object) -> int:
    """upstream counts one unit, however long the query is."""
    return parsing_cost(url.parts.query) + 20 * url.parts.query.count("&")


@_define("(url).getQuery() -> map<string, list<string>>", cost=_query_cost)
def _query(url: Url) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in url.parts.query.split("&"):
        if not pair or ";" in pair:
            continue
        key, _, value = pair.partition("=")
        key, value = (_unescape_text(part.replace("+", " ")) for part in (key, value))
        found.setdefault(key, []).append(value)
    return found
