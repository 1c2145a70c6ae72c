"""Queries: everything that is written, or an error."""

import pytest

from podium.net.serving import BadQuery, parse_query


@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        (b"", {}),
        (b"a=1&b=2&a=3", {"a": ["1", "3"], "b": ["2"]}),
        (b"watch&x=", {"watch": [""], "x": [""]}),
        (b"&&a=1&", {"a": ["1"]}),
        (b"a=b%3Dc+d%2B", {"a": ["b=c d+"]}),
        (b"a=b=c", {"a": ["b=c"]}),
        (b"%C3%A9=%e2%82%ac", {"é": ["€"]}),
    ],
)
def test_a_query_is_read_as_go_reads_it(query: bytes, parameters: dict[str, list[str]]) -> None:
    assert parse_query(query) == parameters


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (b"dryRun=All;x=1", "invalid semicolon separator"),
        (b"dryRun=All&a=%zz", 'invalid URL escape "%zz"'),
        (b"a=%", 'invalid URL escape "%"'),
        (b"a=%4", 'invalid URL escape "%4"'),
        (b"a=%ff", "not valid UTF-8"),
        (b"&".join([b"a=1"] * 10_001), "number of URL query parameters exceeded limit"),
    ],
)
def test_a_query_of_which_go_would_drop_a_part_is_refused(query: bytes, why: str) -> None:
    with pytest.raises(BadQuery, match=why):
        parse_query(query)


def test_a_query_may_have_many_parameters() -> None:
    assert len(parse_query(b"&".join(b"p%d=1" % number for number in range(10_000)))) == 10_000
