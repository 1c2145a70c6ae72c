"""Which cards a pod gets of one node, written as plainly as can be: the reference of the allocator.

Amounts are dictionaries, scores are fractions, combinations are all tried.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import floor

from podium.addons.gpu.cards.allocations import Allocation, CardShare
from podium.addons.gpu.cards.card import NVLINK, Card, MigProfile, NodeCards, Reason
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.quota import QuotaLeft
from podium.addons.gpu.cards.requests import CardKey, CardTopology, ContainerRequest, PodRequest

Used = dict[int, tuple[int, int, int, frozenset[int]]]
NOTHING = (0, 0, 0, frozenset[int]())


def used_of(table: CardTable, row: int) -> Used:
    return {
        index: (
            charged.cores,
            charged.memory,
            charged.slots,
            frozenset(i for i in range(charged.slices.bit_length()) if charged.slices >> i & 1),
        )
        for index, charged in table.charged[row].items()
    }


class SlowAllocator:
    def __init__(
        self, node: NodeCards, used: Used, request: PodRequest, quota: QuotaLeft | None
    ) -> None:
        self.node = node
        self.request = request
        self.used = {card.index: used.get(card.index, NOTHING) for card in node.cards}
        self.cores_left = quota.cores if quota else None
        self.memory_left = quota.memory if quota else None

    def allocate(self) -> Allocation | Reason:
        if self.node.refusal:
            return self.node.refusal
        if not self.node.cards:
            return Reason.NO_CARDS
        request = self.request
        inits: list[tuple[CardShare, ...]] = [()] * len(request.init_containers)
        apps: list[tuple[CardShare, ...]] = [()] * len(request.containers)
        later = []
        for i, container in enumerate(request.init_containers):
            if container is None or container.cards == 0:
                continue
            problem = self.problem(container)
            if problem:
                return problem
            if i < len(request.sidecars) and request.sidecars[i]:
                inits[i] = self.take(container, [])
            else:
                later.append((i, container, dict(self.used), self.eligible(container)))
        for i, container in enumerate(request.containers):
            if container is None or container.cards == 0:
                continue
            problem = self.problem(container)
            if problem:
                return problem
            apps[i] = self.take(container, [])
        own = [share.card for shares in (*inits, *apps) for share in shares]
        for i, container, used, eligible in later:
            self.used = used
            inits[i] = self.shares(container, self.choose(container, eligible, own))
            own += [share.card for share in inits[i]]
        return Allocation(tuple(apps), tuple(inits), request.sidecars)

    # --- which ones can be taken ---------------------------------------------------------------

    def need(self, card: Card, container: ContainerRequest) -> tuple[int, int]:
        if container.whole:
            return card.cores, card.memory
        if container.memory_percent is not None:
            return container.cores, floor(Fraction(card.memory * container.memory_percent, 100))
        return container.cores, container.memory

    def why_not(self, card: Card, container: ContainerRequest) -> Reason | None:
        request, selector = self.request, self.request.selector
        cores, memory, slots, _ = self.used[card.index]
        need_cores, need_memory = self.need(card, container)
        name = card.model.lower()
        idle = (cores, memory, slots) == (0, 0, 0)
        if not card.healthy:
            return Reason.UNHEALTHY
        if card.cordoned:
            return Reason.CORDONED
        if selector.modes and card.mode not in selector.modes:
            return Reason.MODEL_MISMATCH
        if selector.models and not any(m.lower() in name for m in selector.models):
            return Reason.MODEL_MISMATCH
        if any(m.lower() in name for m in selector.not_models):
            return Reason.MODEL_MISMATCH
        if request.topology is CardTopology.NUMA_STRICT and card.numa == -1:
            return Reason.NUMA_UNSATISFIED
        if request.topology is CardTopology.LINK_STRICT and len(self.linked_to(card)) == 1:
            return Reason.LINKS_UNSATISFIED
        if selector.uuids and card.uuid not in selector.uuids:
            return Reason.UUID_MISMATCH
        if card.uuid in selector.not_uuids:
            return Reason.UUID_MISMATCH
        if slots >= card.slots:
            return Reason.INSUFFICIENT_SLOTS
        if request.idle_only and not idle:
            return Reason.NOT_IDLE
        if self.cores_left is not None and need_cores * container.cards > self.cores_left:
            return Reason.QUOTA_EXCEEDED
        if self.memory_left is not None and need_memory * container.cards > self.memory_left:
            return Reason.QUOTA_EXCEEDED
        if card.memory - memory < need_memory:
            return Reason.INSUFFICIENT_MEMORY
        if card.cores - cores < need_cores:
            return Reason.INSUFFICIENT_CORES
        if container.exclusive and not idle:
            return Reason.NOT_IDLE
        if need_cores == 0 and container.cores == 0 and card.cores and cores >= card.cores:
            return Reason.CORES_EXHAUSTED
        if container.mig or container.mig_profile:
            return None if self.instance(card, container) else Reason.NO_MIG_PROFILE
        return Reason.MIG_ENABLED if card.profiles else None

    def eligible(self, container: ContainerRequest) -> list[Card]:
        return [card for card in self.node.cards if self.why_not(card, container) is None]

    def problem(self, container: ContainerRequest) -> Reason | None:
        eligible = self.eligible(container)
        if len(eligible) >= container.cards:
            sets = list(combinations(eligible, container.cards))
            topology = self.request.topology
            if topology is CardTopology.NUMA_STRICT:
                if not any(len({card.numa for card in each}) == 1 for each in sets):
                    return Reason.NUMA_UNSATISFIED
            elif topology is CardTopology.LINK_STRICT and not any(
                self.all_linked(each) for each in sets
            ):
                return Reason.LINKS_UNSATISFIED
            return None
        counts = Counter(self.why_not(card, container) for card in self.node.cards)
        counts.pop(None, None)
        if not counts or len(self.node.cards) < container.cards:
            return Reason.INSUFFICIENT_CARDS
        return next(r for r in Reason if counts.get(r) == max(counts.values()))

    # --- which ones are ------------------------------------------------------------------------

    def take(self, container: ContainerRequest, own: list[int]) -> tuple[CardShare, ...]:
        shares = self.shares(container, self.choose(container, self.eligible(container), own))
        by_index = {card.index: card for card in self.node.cards}
        for share in shares:
            cores, memory, slots, slices = self.used[share.card]
            more = frozenset(range(share.placement, share.placement + share.width))
            self.used[share.card] = (
                cores + share.cores,
                memory + share.memory,
                slots + 1,
                slices | more,
            )
            need_cores, need_memory = self.need(by_index[share.card], container)
            if self.cores_left is not None:
                self.cores_left -= need_cores
            if self.memory_left is not None:
                self.memory_left -= need_memory
        return shares

    def shares(self, container: ContainerRequest, cards: list[Card]) -> tuple[CardShare, ...]:
        shares = []
        for card in sorted(cards, key=lambda card: card.index):
            if container.mig or container.mig_profile:
                found = self.instance(card, container)
                assert found is not None
                p, placement = found
                shares.append(CardShare(card.index, p.cores, p.memory, p.name, placement, p.width))
            else:
                shares.append(CardShare(card.index, *self.need(card, container)))
        return tuple(shares)

    def choose(
        self, container: ContainerRequest, eligible: list[Card], own: list[int]
    ) -> list[Card]:
        ordered = sorted(eligible, key=lambda card: self.sort_key(card, container, eligible))
        mine = [card for card in ordered if card.index in own]
        if own and len(mine) >= container.cards:
            picked = self.pick(mine, container.cards)
            if picked is not None:
                return picked
        ordered = mine + [card for card in ordered if card not in mine]
        return self.pick(ordered, container.cards) or ordered[: container.cards]

    def pick(self, ordered: list[Card], n: int) -> list[Card] | None:
        topology = self.request.topology
        place = {card.index: i for i, card in enumerate(ordered)}
        sets = [list(each) for each in combinations(ordered, n)]
        if topology is CardTopology.NONE or (topology is CardTopology.NUMA and n == 1):
            return ordered[:n]
        if topology in (CardTopology.NUMA, CardTopology.NUMA_STRICT):
            same = [s for s in sets if len({card.numa for card in s}) == 1 and s[0].numa >= 0]
            # Complete first: its last card comes first.
            return min(same, key=lambda s: [place[c.index] for c in reversed(s)], default=None)
        if topology is CardTopology.LINK_STRICT:
            sets = [s for s in sets if self.all_linked(s)]
        if n == 1:
            return min(sets, key=lambda s: sum(self.link(s[0], c) for c in ordered), default=None)
        return max(
            sets, key=lambda s: sum(self.link(a, b) for a, b in combinations(s, 2)), default=None
        )

    def sort_key(
        self, card: Card, container: ContainerRequest, eligible: list[Card]
    ) -> list[Fraction | int]:
        cores, memory, slots, _ = self.used[card.index]
        need_cores, need_memory = self.need(card, container)
        weights = self.request.weights
        share = (
            weights.slots * floor(Fraction(slots + 1, card.slots or 1) * 1_000_000)
            + weights.cores * floor(Fraction(cores + need_cores, card.cores or 1) * 1_000_000)
            + weights.memory * floor(Fraction(memory + need_memory, card.memory or 1) * 1_000_000)
        )
        peers = sum(c.numa == card.numa for c in eligible) if card.numa >= 0 else 0
        of: dict[CardKey, list[Fraction | int]] = {
            CardKey.FREE_CORES: [card.cores - cores],
            CardKey.MOST_FREE_CORES: [cores - card.cores],
            CardKey.FREE_MEMORY: [card.memory - memory],
            CardKey.MOST_FREE_MEMORY: [memory - card.memory],
            CardKey.FULLEST: [-share],
            CardKey.EMPTIEST: [share],
            CardKey.NUMA: [-peers, card.numa],
        }
        return [part for key in self.request.card_order for part in of[key]] + [card.index]

    # --- links and instances -------------------------------------------------------------------

    def link(self, one: Card, other: Card) -> int:
        if one.index == other.index:
            return 0
        there = one.links[other.index] if other.index < len(one.links) else 0
        back = other.links[one.index] if one.index < len(other.links) else 0
        return max(there, back)

    def linked_to(self, card: Card) -> set[int]:
        reached = {card.index}
        while True:
            more = {
                other.index
                for other in self.node.cards
                for one in self.node.cards
                if one.index in reached and self.link(one, other) >= NVLINK
            }
            if more <= reached:
                return reached
            reached |= more

    def all_linked(self, cards: list[Card] | tuple[Card, ...]) -> bool:
        return {card.index for card in cards} <= self.linked_to(cards[0]) and len(
            self.linked_to(cards[0])
        ) > 1

    def instance(self, card: Card, container: ContainerRequest) -> tuple[MigProfile, int] | None:
        occupied = self.used[card.index][3]
        cores, memory = self.need(card, container)

        def free(profile: MigProfile, placement: int, taken: frozenset[int]) -> bool:
            return not taken & set(range(placement, placement + profile.width))

        def left(profile: MigProfile, placement: int) -> int:
            taken = occupied | set(range(placement, placement + profile.width))
            return sum(free(p, at, taken) for p in card.profiles for at in p.placements)

        for profile in sorted(card.profiles, key=lambda p: p.memory):
            if container.mig_profile not in ("", profile.name):
                continue
            if profile.cores < cores or profile.memory < memory:
                continue
            open_ones = [at for at in profile.placements if free(profile, at, occupied)]
            if open_ones:
                return profile, max(open_ones, key=lambda at: left(profile, at))
        return None
