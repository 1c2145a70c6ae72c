"""Which pods of a node have part of its own resources by a claim.

A claim on devices that stand for cpu or memory of their node (DRANodeAllocatableResources) is for
one pod: what it takes is counted with the pod, so a second one would not be counted. Forks are
made often and rarely differ, so what is known of a row is replaced and never changed.
"""

from collections.abc import Iterable, Iterator, Mapping

Users = Mapping[str, frozenset[str]]
"""Claim (`namespace/name`) -> UIDs of the pods that use it."""

_NOBODY: frozenset[str] = frozenset()


class ClaimUsers:
    def __init__(self) -> None:
        self.by_row: dict[int, Users] = {}

    def count(self, row: int, claims: Iterable[str], uid: str, sign: int) -> None:
        """A pod with these claims comes to a row (1) or leaves it (-1)."""
        users = dict(self.by_row.get(row, {}))
        for claim in claims:
            before = users.get(claim, _NOBODY)
            after = before | {uid} if sign > 0 else before - {uid}
            if after:
                users[claim] = after
            else:
                users.pop(claim, None)
        if users:
            self.by_row[row] = users
        else:
            self.by_row.pop(row, None)

    def of(self, claim: str) -> Iterator[tuple[int, frozenset[str]]]:
        """(row, pods there that use the claim)."""
        for row, users in self.by_row.items():
            if claim in users:
                yield row, users[claim]

    def fork(self) -> "ClaimUsers":
        twin = ClaimUsers()
        twin.by_row = dict(self.by_row)
        return twin

    def copy_row(self, row: int, source: "ClaimUsers") -> None:
        if row in source.by_row:
            self.by_row[row] = source.by_row[row]
        else:
            self.by_row.pop(row, None)
