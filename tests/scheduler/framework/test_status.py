"""Codes, their names, and messages."""

import pytest

from podium.scheduler.framework.status import SKIP, Code, Status, error, unresolvable, unschedulable


@pytest.mark.parametrize(
    ("code", "number", "label", "rejected"),
    [
        (Code.SUCCESS, 0, "Success", False),
        (Code.ERROR, 1, "Error", False),
        (Code.UNSCHEDULABLE, 2, "Unschedulable", True),
        (Code.UNRESOLVABLE, 3, "UnschedulableAndUnresolvable", True),
        (Code.WAIT, 4, "Wait", False),
        (Code.SKIP, 5, "Skip", False),
        (Code.PENDING, 6, "Pending", True),
    ],
)
def test_codes_have_the_numbers_and_names_users_know(
    code: Code, number: int, label: str, rejected: bool
) -> None:
    assert (int(code), code.label, code.rejected) == (number, label, rejected)


def test_a_message_joins_the_reasons() -> None:
    assert unschedulable("Insufficient cpu", "Too many pods").message == (
        "Insufficient cpu, Too many pods"
    )
    assert unresolvable().message == ""


def test_the_first_plugin_named_stays() -> None:
    assert error("boom").by("A").by("B") == Status(Code.ERROR, ("boom",), "A")
    assert SKIP.plugin == ""
