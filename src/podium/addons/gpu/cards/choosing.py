"""Which cards of one node a pod gets, or why it gets none.

Containers are taken in the order in which they start: init containers, then the rest. Each sees
what the earlier ones that go on take. An init container that ends before the others start needs
room beside sidecars only; its cards are chosen last, of those that the pod has anyway if they will
do.

This is the form of the rules for one node. `fitting` says the same for many nodes at once.

Cards chosen in the order in which pods are bound, for agents that choose shared cards. Such an
agent chooses by what it has given out so far, and refuses a pod whose decision names another card.
Pods are not always bound in the order in which they were decided, and one that was decided before
may not be bound at all. So cards are chosen again when a pod's decision is about to be written: as
if it came first of all whose decisions nobody was told of yet. With two cards of 100 cores, pods of
60, 60 and 30 cores are decided for cards 0, 1 and 0. If the second is bound first it gets card 0,
as the agent will have it, and the others cards 1 and 0.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from podium.addons.gpu.cards.allocations import (
    NOTHING_CHARGED,
    Allocation,
    CardShare,
    CardUse,
    card_uses,
)
from podium.addons.gpu.cards.card import Card, MigProfile, Reason
from podium.addons.gpu.cards.card_rules import (
    Facts,
    Instance,
    find_instance,
    order_keys,
    refusals,
    set_needs,
)
from podium.addons.gpu.cards.card_table import REASON_CODES, CardTable
from podium.addons.gpu.cards.quota import QuotaLeft
from podium.addons.gpu.cards.requests import (
    CardKey,
    CardTopology,
    ContainerRequest,
    ContainerStart,
    PodRequest,
    starting_order,
)
from podium.addons.gpu.cards.topology import best_linked_of_node, first_group

CardReasons = list[tuple[int, Reason | None]]


def allocate(
    table: CardTable,
    row: int,
    request: PodRequest,
    quota: QuotaLeft | None = None,
    *,
    prefer: int | None = None,
) -> Allocation | Reason:
    """The cards of this node that the pod gets, or why it does not fit. Nothing is charged.

    `prefer` is the index of a card that goes before all others where it will do.
    """
    refusal = table.refusal_of(row)
    if refusal is not None:
        return refusal
    walk = _Walk(table, row, request, quota, prefer)
    return walk.reason or walk.allocation()


def check_row(
    table: CardTable, row: int, request: PodRequest, quota: QuotaLeft | None = None
) -> Reason | None:
    """Why the pod does not fit the node; None if it does."""
    refusal = table.refusal_of(row)
    if refusal is not None:
        return refusal
    return _Walk(table, row, request, quota).reason


def explain_cards(
    table: CardTable, row: int, request: PodRequest, quota: QuotaLeft | None = None
) -> CardReasons:
    """For each card by its index why it cannot be had; None if it can.

    Said for the first container that finds too few cards, or for the last one if the pod fits.
    """
    refusal = table.refusal_of(row)
    if refusal is not None:
        cards = table.nodes[row].cards if row < table.rows else ()
        return [(card.index, refusal) for card in cards]
    walk = _Walk(table, row, request, quota)
    return [
        (card.index, reason) for card, reason in zip(walk.cards, walk.card_reasons, strict=True)
    ]


class _Step:
    """One container on its way: what each card would give it, and which can be taken."""

    __slots__ = ("container", "eligible", "facts", "instances", "start")

    def __init__(self, start: ContainerStart) -> None:
        self.start = start
        self.container = start.container
        self.facts: list[Facts] = []
        self.instances: list[Instance | None] = []
        self.eligible: list[int] = []


class _Walk:
    """All containers of a pod, one after the other, on one node."""

    def __init__(
        self,
        table: CardTable,
        row: int,
        request: PodRequest,
        quota: QuotaLeft | None,
        prefer: int | None = None,
    ) -> None:
        self.request = request
        self._prefer = prefer
        self.cards = table.nodes[row].cards
        self.reason: Reason | None = None
        self.card_reasons: list[Reason | None] = [None] * len(self.cards)
        self._table = table
        self._row = row
        self._components = table.components[row]
        self._cores_left = None if quota is None else quota.cores
        self._memory_left = None if quota is None else quota.memory
        books = table.charged[row]
        charged = [books.get(card.index, NOTHING_CHARGED) for card in self.cards]
        self._used = [(each.cores, each.memory, each.slots) for each in charged]
        self._slices = [each.slices for each in charged]
        self._matches = _matching_cards(table, request, self.cards)
        self._own: set[int] = set()
        self._shares: dict[tuple[bool, int], tuple[CardShare, ...]] = {}
        self._waiting: list[_Step] = []
        self._take_all()

    def allocation(self) -> Allocation:
        for step in self._waiting:
            self._take(step, self._choose(step))
        request = self.request
        return Allocation(
            tuple(self._shares.get((False, i), ()) for i in range(len(request.containers))),
            tuple(self._shares.get((True, i), ()) for i in range(len(request.init_containers))),
            request.sidecars,
        )

    def _take_all(self) -> None:
        for start in starting_order(self.request):
            step = _Step(start)
            self.reason = self._look(step)
            if self.reason is not None:
                return
            if start.ends:
                self._waiting.append(step)
            else:
                places = self._choose(step)
                self._take(step, places)
                self._charge(step, places)

    # --- what there is ------------------------------------------------------------------------

    def _look(self, step: _Step) -> Reason | None:
        """Find the cards that can be taken; the reason if they are too few."""
        container = step.container
        mig = container.wants_mig()
        for place, card in enumerate(self.cards):
            facts = self._facts(place, card, container)
            instance = None
            if mig and card.profiles:
                instance = _instance(card.profiles, self._slices[place], container, facts)
            facts.has_instance = instance is not None
            step.facts.append(facts)
            step.instances.append(instance)
            self.card_reasons[place] = None
            for reason, refused in refusals(
                self.request, container, facts, self._cores_left, self._memory_left
            ):
                if refused:
                    self.card_reasons[place] = reason
                    break
            else:
                step.eligible.append(place)
        return self._why_too_few(step)

    def _facts(self, place: int, card: Card, container: ContainerRequest) -> Facts:
        facts = Facts()
        facts.healthy = card.healthy
        facts.cordoned = card.cordoned
        facts.cores = card.cores
        facts.memory = card.memory
        facts.slots = card.slots
        facts.numa = card.numa
        facts.component = self._components[place]
        facts.in_mig_mode = bool(card.profiles)
        facts.used_cores, facts.used_memory, facts.used_slots = self._used[place]
        facts.model_matches, facts.uuid_matches = self._matches[place]
        set_needs(container, facts)
        return facts

    def _why_too_few(self, step: _Step) -> Reason | None:
        wanted = step.container.cards
        if len(step.eligible) < wanted:
            return self._most_frequent(wanted)
        topology = self.request.topology
        if topology is CardTopology.NUMA_STRICT:
            numa = [card.numa for card in self.cards]
            if first_group(step.eligible, numa, wanted) is None:
                return Reason.NUMA_UNSATISFIED
        elif (
            topology is CardTopology.LINK_STRICT
            and first_group(step.eligible, self._components, wanted) is None
        ):
            return Reason.LINKS_UNSATISFIED
        return None

    def _most_frequent(self, wanted: int) -> Reason:
        counts: dict[Reason, int] = {}
        for reason in self.card_reasons:
            if reason is not None:
                counts[reason] = counts.get(reason, 0) + 1
        if not counts or len(self.cards) < wanted:
            return Reason.INSUFFICIENT_CARDS
        return min(counts, key=lambda reason: (-counts[reason], REASON_CODES[reason]))

    # --- what is taken ------------------------------------------------------------------------

    def _choose(self, step: _Step) -> Sequence[int]:
        """The cards to take: of those that the pod has already if they will do."""
        wanted = step.container.cards
        eligible = step.eligible
        if wanted == len(eligible):
            return eligible
        if CardKey.NUMA in self.request.card_order:
            self._count_numa_peers(step)
        keys = {place: order_keys(self.request, step.facts[place]) for place in eligible}
        ordered = sorted(eligible, key=keys.__getitem__)
        if self._prefer is not None:
            ordered.sort(key=lambda place: self.cards[place].index != self._prefer)
        if step.start.ends:
            own = [place for place in ordered if place in self._own]
            if len(own) >= wanted:
                places = self._pick(own, wanted)
                if places is not None:
                    return places
            ordered = own + [place for place in ordered if place not in self._own]
        places = self._pick(ordered, wanted)
        return ordered[:wanted] if places is None else places

    def _pick(self, ordered: list[int], wanted: int) -> Sequence[int] | None:
        """Cards by the topology that is asked for; None if these have none of it."""
        topology = self.request.topology
        if topology in (CardTopology.NUMA, CardTopology.NUMA_STRICT):
            if wanted == 1 and topology is CardTopology.NUMA:
                return ordered[:1]
            return first_group(ordered, [card.numa for card in self.cards], wanted)
        links = self._table.links
        if topology is CardTopology.NONE or links is None:
            return ordered[:wanted]
        components = None
        if topology is CardTopology.LINK_STRICT:
            components = self._components
            if first_group(ordered, components, wanted) is None:
                return None
        return best_linked_of_node(ordered, links[self._row], components, wanted)

    def _count_numa_peers(self, step: _Step) -> None:
        counts: dict[int, int] = {}
        for place in step.eligible:
            numa = self.cards[place].numa
            counts[numa] = counts.get(numa, 0) + 1
        for place in step.eligible:
            step.facts[place].numa_peers = counts[self.cards[place].numa]

    def _take(self, step: _Step, places: Sequence[int]) -> None:
        self._own.update(places)
        self._shares[step.start.init, step.start.position] = tuple(
            self._share(step, place) for place in sorted(places)
        )

    def _share(self, step: _Step, place: int) -> CardShare:
        index = self.cards[place].index
        instance = step.instances[place]
        if instance is None:
            facts = step.facts[place]
            return CardShare(index, facts.need_cores, facts.need_memory)
        profile = instance.profile
        return CardShare(
            index, profile.cores, profile.memory, profile.name, instance.placement, profile.width
        )

    def _charge(self, step: _Step, places: Sequence[int]) -> None:
        for place in places:
            facts, instance = step.facts[place], step.instances[place]
            if self._cores_left is not None:
                self._cores_left -= facts.need_cores
            if self._memory_left is not None:
                self._memory_left -= facts.need_memory
            cores, memory, slots = self._used[place]
            if instance is None:
                cores, memory = cores + facts.need_cores, memory + facts.need_memory
            else:
                cores, memory = cores + instance.profile.cores, memory + instance.profile.memory
                self._slices[place] |= instance.slices
            self._used[place] = cores, memory, slots + 1


def _matching_cards(
    table: CardTable, request: PodRequest, cards: Sequence[Card]
) -> Sequence[tuple[bool, bool]]:
    """Whether each card is one that the selector lets through, by its model and by its UUID."""
    selector = request.selector
    kinds = table.matching_kinds(selector)
    if kinds is None and not selector.uuids and not selector.not_uuids:
        return ((True, True),) * len(cards)
    return [
        (
            kinds is None or bool(kinds[table.kind_code(card)]),
            card.uuid not in selector.not_uuids
            and (not selector.uuids or card.uuid in selector.uuids),
        )
        for card in cards
    ]


def _instance(
    profiles: tuple[MigProfile, ...], occupied: int, container: ContainerRequest, facts: Facts
) -> Instance | None:
    return find_instance(
        profiles, occupied, container.mig_profile, facts.need_cores, facts.need_memory
    )


class UntoldDecision(NamedTuple):
    """A decision that only its maker knows of: what was asked for, and what is charged for it."""

    uid: str
    request: PodRequest
    uses: Mapping[int, CardUse]


def choose_again(
    table: CardTable, row: int, untold: Sequence[UntoldDecision]
) -> dict[str, Allocation] | None:
    """The cards of each in the order given, by uid; None if in that order not all of them fit."""
    part = table.part([row])
    for decision in untold:
        part.discharge(0, decision.uses)
    found: dict[str, Allocation] = {}
    for decision in untold:
        given = allocate(part, 0, decision.request)
        if not isinstance(given, Allocation):
            return None
        part.charge(0, card_uses(given))
        found[decision.uid] = given
    return found
