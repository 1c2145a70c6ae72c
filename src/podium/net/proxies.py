"""Which proxy leads to an extender, by the environment variables that Go programs read.

HTTP_PROXY and HTTPS_PROXY by the scheme of the target, NO_PROXY for exceptions: names, names with
everything below them (`.example.com`, `*.example.com`), addresses, CIDR ranges, each with a port if
need be, or `*`. The loopback is never reached through a proxy. Names in lower case count where the
upper case ones are not set. (`golang.org/x/net/http/httpproxy`)
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult

from podium.golang.urls import parse_ip

_PORTS = {"http": 80, "https": 443}

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class _Exception:
    """One entry of NO_PROXY; `port` None is any port."""

    name: str = ""
    below_only: bool = False
    network: Network | None = None
    port: int | None = None

    def covers(self, host: str, address: Address | None, port: int) -> bool:
        if self.port is not None and self.port != port:
            return False
        if self.network is not None:
            return address is not None and address in self.network
        if address is not None:
            return False
        return host.endswith(f".{self.name}") or (host == self.name and not self.below_only)


@dataclass(frozen=True, slots=True)
class Proxies:
    http: str = ""
    https: str = ""
    exceptions: tuple[_Exception, ...] = ()
    none: bool = False

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Proxies":
        def read_setting(name: str) -> str:
            return environment.get(name) or environment.get(name.lower()) or ""

        entries = [entry.strip().lower() for entry in read_setting("NO_PROXY").split(",")]
        return cls(
            _proxy_url(read_setting("HTTP_PROXY")),
            _proxy_url(read_setting("HTTPS_PROXY")),
            tuple(_exception(entry) for entry in entries if entry and entry != "*"),
            "*" in entries,
        )

    def on_the_way_to(self, target: SplitResult) -> str:
        """The proxy's address, or "" for the direct way."""
        proxy = self.https if target.scheme == "https" else self.http
        host = (target.hostname or "").rstrip(".")
        if not proxy or self.none or host == "localhost":
            return ""
        address = _address(host)
        if address is not None and address.is_loopback:
            return ""
        port = target.port or _PORTS[target.scheme]
        if any(exception.covers(host, address, port) for exception in self.exceptions):
            return ""
        return proxy


def _proxy_url(setting: str) -> str:
    setting = setting.strip()
    return setting if not setting or "://" in setting else f"http://{setting}"


def _exception(entry: str) -> _Exception:
    network = _network(entry)
    if network is not None:
        return _Exception(network=network)
    host, port = _split_port(entry)
    network = _network(host)
    if network is not None:
        return _Exception(network=network, port=port)
    name = host.removeprefix("*")
    return _Exception(name=name.removeprefix("."), below_only=name.startswith("."), port=port)


def _split_port(entry: str) -> tuple[str, int | None]:
    host, colon, port = entry.rpartition(":")
    if not colon or not port.isdigit():
        return entry.strip("[]"), None
    return host.strip("[]"), int(port)


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _address(host: str) -> Address | None:
    try:
        return parse_ip(host)
    except ValueError:
        return None
