"""The command that dumps a cluster knows every kind that scheduling reads."""

from pathlib import Path

from podium.kubernetes.kinds.typed_objects import KINDS
from podium.offline.simulate.read_kinds import READ, dump_command


def test_every_kind_that_is_read_is_dumped() -> None:
    assert {(each.api_version, each.kind) for each in READ} == set(KINDS)
    assert len(READ) == len(KINDS)
    for each in READ:
        assert KINDS[each.api_version, each.kind].cluster_scoped is not each.namespaced


def test_the_documentation_has_the_same_command() -> None:
    root = Path(__file__).parents[3]
    assert dump_command() in (root / "docs" / "simulating.md").read_text()
