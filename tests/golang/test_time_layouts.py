"""Moments in layouts that are written as Go writes them."""

import pytest

from podium.golang.durations import RFC3339, seconds_by_layout
from podium.kubernetes.rules.timestamps import seconds_of


@pytest.mark.parametrize(
    ("layout", "text", "same"),
    [
        (RFC3339, "2026-02-03T04:05:06Z", "2026-02-03T04:05:06Z"),
        (RFC3339, "2026-02-03T04:05:06.25+02:00", "2026-02-03T02:05:06.25Z"),
        ("2006-01-02", "2026-02-03", "2026-02-03T00:00:00Z"),
        ("02 Jan 06 15:04 MST", "03 Feb 26 04:05 UTC", "2026-02-03T04:05:00Z"),
        ("Mon, 02 Jan 2006 -0700", "Tue, 03 Feb 2026 -0130", "2026-02-03T01:30:00Z"),
        ("January 2, 2006 3:04 PM", "February 3, 2026 12:05 AM", "2026-02-03T00:05:00Z"),
        ("2006.01.02 3pm", "2026.02.03 4pm", "2026-02-03T16:00:00Z"),
        ("Jan _2 15:04:05.000 2006", "Feb  3 04:05:06.500 2026", "2026-02-03T04:05:06.5Z"),
        ("2006-002", "2026-034", "2026-02-03T00:00:00Z"),
    ],
)
def test_a_text_is_read_by_its_layout(layout: str, text: str, same: str) -> None:
    assert seconds_by_layout(layout, text) == seconds_of(same)


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (RFC3339, "2026-02-03"),
        (RFC3339, ""),
        ("2006-01-02", "2026-02-30"),
        ("2006-01-02", "2026-13-01"),
        ("2006-01-02 2006", "2026-02-03 2026"),
    ],
)
def test_a_text_of_another_layout_is_refused(layout: str, text: str) -> None:
    with pytest.raises(ValueError):
        seconds_by_layout(layout, text)
