"""Objects that a real API server was sent: what it stored of them, or why it refused them."""

import pytest
from support.apiserver.recorded_writes import comparable, writes_of
from support.apiserver.written_objects import Shelf


@pytest.mark.parametrize(
    ("case", "at_least"),
    [
        ("binding", 14),
        ("create-errors", 39),
        ("eviction", 3),
        ("namespaces", 4),
        ("nodes-crud", 14),
        ("pdbs-leases-events", 13),
        ("pod-defaults", 13),
        ("pods-crud", 14),
        ("priority-classes", 22),
        ("resource-claims", 16),
        ("services-and-storage", 18),
    ],
)
def test_recorded_writes_store_the_recorded_objects_and_give_the_recorded_errors(
    case: str, at_least: int
) -> None:
    compared = 0
    for write in writes_of(case, Shelf()):
        assert comparable(write.found) == comparable(write.wanted), write.id
        compared += 1
    assert compared >= at_least
