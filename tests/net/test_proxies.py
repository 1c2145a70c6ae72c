"""Which proxy is on the way to an address."""

from urllib.parse import urlsplit

import pytest

from podium.net.proxies import Proxies

BOTH = {"HTTP_PROXY": "http://plain:3128", "HTTPS_PROXY": "http://secure:3129"}


def way(url: str, **environment: str) -> str:
    return Proxies.of(environment).on_the_way_to(urlsplit(url))


def test_without_settings_the_way_is_direct() -> None:
    assert way("http://extender.example/") == ""


def test_the_scheme_chooses_the_proxy() -> None:
    assert way("http://extender.example", **BOTH) == "http://plain:3128"
    assert way("https://extender.example", **BOTH) == "http://secure:3129"


def test_lower_case_names_count_where_the_others_are_not_set() -> None:
    assert way("http://e.example", http_proxy="p:1", no_proxy="x.example") == "http://p:1"
    assert way("http://e.example", HTTP_PROXY="q:1", http_proxy="p:1") == "http://q:1"
    assert way("http://x.example", http_proxy="p:1", no_proxy="x.example") == ""


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.9.8.7", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_the_loopback_is_never_behind_a_proxy(host: str) -> None:
    assert way(f"http://{host}:8888/filter", **BOTH) == ""


@pytest.mark.parametrize(
    ("entry", "url", "direct"),
    [
        ("*", "http://anything.example", True),
        ("example.com", "http://example.com", True),
        ("example.com", "http://a.example.com", True),
        ("example.com", "http://notexample.com", False),
        ("EXAMPLE.com", "http://a.Example.COM", True),
        (".example.com", "http://a.example.com", True),
        (".example.com", "http://example.com", False),
        ("*.example.com", "http://a.example.com", True),
        ("*.example.com", "http://example.com", False),
        ("example.com:8080", "http://example.com:8080", True),
        ("example.com:8080", "http://example.com:8081", False),
        ("example.com:80", "http://example.com", True),
        ("10.0.0.0/8", "http://10.20.30.40:8888", True),
        ("10.0.0.0/8", "http://11.20.30.40:8888", False),
        ("10.0.0.0/8", "http://ten.example", False),
        ("10.1.2.3", "http://10.1.2.3", True),
        ("10.1.2.3:443", "https://10.1.2.3", True),
        ("10.1.2.3:443", "http://10.1.2.3", False),
        ("fd00::/8", "http://[fd00::17]:80", True),
        ("[fd00::17]:80", "http://[fd00::17]", True),
        ("one.example, two.example ,", "http://two.example", True),
        ("", "http://two.example", False),
    ],
)
def test_exceptions_are_names_addresses_and_ranges(entry: str, url: str, *, direct: bool) -> None:
    assert (way(url, **BOTH, NO_PROXY=entry) == "") is direct
