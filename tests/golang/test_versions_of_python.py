"""Texts that releases of Python read differently are read alike."""

import pytest

from podium.golang.urls import parse_ip
from podium.kubernetes.rules.timestamps import parse_time, seconds_of


@pytest.mark.parametrize("text", ["2026-02-03T24:00:00Z", "2026-02-03T24:00:00.000000+01:00"])
def test_there_is_no_hour_24(text: str) -> None:
    with pytest.raises(ValueError, match=r"hour must be in 0\.\.23"):
        parse_time(text)
    with pytest.raises(ValueError, match=r"hour must be in 0\.\.23"):
        seconds_of(text)


def test_an_hour_before_it_and_a_zone_are_read() -> None:
    assert parse_time("2026-02-03T23:59:59+01:00").isoformat() == "2026-02-03T23:59:59+01:00"


@pytest.mark.parametrize(
    ("mapped", "plain", "is_loopback", "is_unspecified", "is_link_local"),
    [
        ("::ffff:127.0.0.1", "127.0.0.1", True, False, False),
        ("::ffff:0.0.0.0", "0.0.0.0", False, True, False),
        ("::ffff:a9fe:101", "169.254.1.1", False, False, True),
        ("::ffff:10.0.0.1", "10.0.0.1", False, False, False),
    ],
)
def test_a_mapped_address_is_the_ipv4_address(
    mapped: str, plain: str, is_loopback: bool, is_unspecified: bool, is_link_local: bool
) -> None:
    address = parse_ip(mapped)
    assert str(address) == plain
    assert address.is_loopback is is_loopback
    assert address.is_unspecified is is_unspecified
    assert address.is_link_local is is_link_local


@pytest.mark.parametrize("text", ["", "10.0.0", "10.0.0.01", "host"])
def test_a_text_that_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_ip(text)
