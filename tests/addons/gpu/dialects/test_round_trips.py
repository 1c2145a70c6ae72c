"""What is written in a dialect is what is read in it."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.addons.gpu.dialect_objects import bound, container, pod, registered, written

from podium.addons.gpu.cards.allocations import Allocation, CardShare
from podium.addons.gpu.cards.card import MAX_MEMORY, UNLIMITED, Card, MigProfile, NodeCards
from podium.addons.gpu.dialects import DIALECTS, UnknownDialect, find_dialect
from podium.addons.gpu.dialects.dialect import Dialect, Phase
from podium.addons.gpu.dialects.reading import IN_MIG_MODE
from podium.kubernetes.kinds.pod import Pod

UUIDS = st.uuids().map(lambda uuid: f"GPU-{uuid}")
MODELS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
AMOUNTS = st.integers(0, MAX_MEMORY)
PROFILES = st.builds(
    MigProfile,
    name=st.from_regex(r"[1-7]g\.[1-9]0gb", fullmatch=True),
    memory=AMOUNTS,
    cores=st.integers(0, 100),
    width=st.integers(1, 8),
    placements=st.lists(st.integers(0, 7), min_size=1, max_size=7, unique=True).map(tuple),
)
PCI_SCORES = st.sampled_from(range(0, 70, 10))
LINK_SCORES = st.builds(lambda nvlinks, pci: 100 * nvlinks + pci, st.integers(0, 18), PCI_SCORES)


@st.composite
def equal_cards(draw: st.DrawFn) -> tuple[Card, ...]:
    memory = draw(st.integers(1, 1 << 20))
    return tuple(Card(at, memory=memory) for at in range(draw(st.integers(1, 16))))


@st.composite
def named_cards(draw: st.DrawFn, dialect: str) -> tuple[Card, ...]:
    uuids = draw(st.lists(UUIDS, min_size=1, max_size=8, unique=True))
    indexed = dialect in ("hami", "vgpu-manager")
    indexes = list(range(len(uuids)))
    if indexed:
        indexes = sorted(
            draw(st.sets(st.integers(1, 40), min_size=len(uuids), max_size=len(uuids)))
        )
    linked = indexed and draw(st.booleans())
    mode = draw(st.sampled_from(["virtual", "physical"]))
    return tuple(
        draw(_card(dialect, index, uuid, _peers(indexes, index) if linked else [], mode))
        for index, uuid in zip(indexes, uuids, strict=True)
    )


def _peers(indexes: list[int], index: int) -> list[bool]:
    """Which places in a card's links are those of other cards."""
    return [at in indexes and at != index for at in range(indexes[-1] + 1)]


@st.composite
def _card(
    draw: st.DrawFn, dialect: str, index: int, uuid: str, peers: list[bool], mode: str
) -> Card:
    mig = draw(st.booleans())
    profiles: tuple[MigProfile, ...] = IN_MIG_MODE if mig else ()
    indexed = dialect in ("hami", "vgpu-manager")
    if dialect == "hami":
        mode = "mig" if mig else draw(st.sampled_from(["hami-core", "mps"]))
        if mig:
            profiles = draw(st.lists(PROFILES, max_size=3).map(tuple)) or IN_MIG_MODE
    return Card(
        index=index,
        uuid=uuid,
        model=draw(MODELS),
        memory=draw(AMOUNTS),
        cores=draw(st.integers(0, 400)),
        slots=draw(st.integers(1, 100)) if indexed else UNLIMITED,
        numa=draw(st.integers(-1, 7)) if indexed else -1,
        healthy=draw(st.booleans()),
        cordoned=draw(st.booleans()) if dialect == "hami" else False,
        mode=mode if indexed else "",
        profiles=profiles,
        links=tuple(draw(LINK_SCORES) if peer else 0 for peer in peers),
    )


CARDS: dict[str, st.SearchStrategy[tuple[Card, ...]]] = {
    "gpu-manager": equal_cards(),
    "gpu-scheduler": named_cards("gpu-scheduler"),
    "gpushare": equal_cards(),
    "gpushare-mib": equal_cards(),
    "hami": named_cards("hami"),
    "vgpu-manager": named_cards("vgpu-manager"),
}


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=50)
@given(data=st.data(), now=st.floats(1e9, 4e9))
def test_what_an_agent_registers_are_its_cards(name: str, data: st.DataObject, now: float) -> None:
    cards = data.draw(CARDS[name])
    dialect = find_dialect(name)
    found = dialect.node_cards(registered(dialect.register(cards, now)), now)
    assert (found.cards, found.refusal, found.memory_factor) == (cards, None, 1)
    assert found.good_until >= now


def _vcuda(domain: str) -> Callable[[tuple[CardShare, ...]], dict[str, int]]:
    def limits(shares: tuple[CardShare, ...]) -> dict[str, int]:
        if not shares:
            return {"cpu": 1}
        share = shares[0]
        return {f"{domain}/vcuda-core": share.cores, f"{domain}/vcuda-memory": share.memory}

    return limits


def _gpushare(shares: tuple[CardShare, ...]) -> dict[str, int]:
    return {"aliyun.com/gpu-mem": shares[0].memory} if shares else {"cpu": 1}


LIMITS: dict[str, Callable[[tuple[CardShare, ...]], dict[str, int]]] = {
    "gpu-manager": _vcuda("tencent.com"),
    "gpu-scheduler": _vcuda("nvidia.com"),
    "gpushare": _gpushare,
    "gpushare-mib": _gpushare,
    "hami": lambda _shares: {},
    "vgpu-manager": lambda _shares: {},
}
NODE = NodeCards(cards=tuple(Card(at, f"GPU-{at}", memory=1 << 20) for at in range(8)))


@st.composite
def decisions(draw: st.DrawFn, name: str) -> tuple[Pod, Allocation]:
    """A pod and cards for its containers, as far as the dialect can say it."""
    many = name in ("hami", "vgpu-manager")
    count = 1 if name.startswith("gpushare") else draw(st.integers(1, 4))
    starting = draw(st.integers(0, 2)) if many else 0
    shares: list[tuple[CardShare, ...]] = []
    for _ in range(starting + count):
        least, most = (1, 1) if name.startswith("gpushare") else (0, 3 if many else 1)
        cards = draw(st.lists(st.integers(0, 7), min_size=least, max_size=most, unique=True))
        cores = 0 if name.startswith("gpushare") else draw(st.integers(1, 99))
        memory = draw(st.integers(1, 1 << 20))
        shares.append(tuple(CardShare(card, cores, memory) for card in cards))
    sidecars = tuple(draw(st.booleans()) for _ in range(starting))
    init = tuple(
        container(f"i{at}", restartPolicy="Always" if sidecar else "")
        for at, sidecar in enumerate(sidecars)
    )
    asking = pod(*(LIMITS[name](each) for each in shares[starting:]), init=init)
    allocation = Allocation(tuple(shares[starting:]), tuple(shares[:starting]), sidecars)
    return asking, allocation


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=50)
@given(data=st.data(), now=st.integers(10**9, 4 * 10**9))
def test_what_is_decided_is_what_is_read_back(name: str, data: st.DataObject, now: int) -> None:
    asking, allocation = data.draw(decisions(name))
    dialect = find_dialect(name)
    decided = written(asking, dialect.write_decision(asking, "n1", NODE, allocation, now))
    _check_decision(dialect, bound(decided, "n1"), allocation, now, Phase.RESERVED)
    binding = bound(written(decided, dialect.write_binding(decided, now)), "n1")
    _check_decision(dialect, binding, allocation, now, Phase.RESERVED)
    confirmed = written(binding, dialect.confirm(binding))
    given_out = dialect.decision(confirmed, NODE)
    if any((*allocation.containers, *allocation.init_containers)):
        assert given_out is not None
        assert given_out.allocation == allocation
        assert given_out.phase is Phase.CONFIRMED
    for each in (decided, binding, confirmed):
        cleared = written(each, dialect.clear_decision(each))
        assert cleared.metadata == asking.metadata
        assert dialect.decided_node(bound(cleared, "n1")) == ""


def _check_decision(
    dialect: Dialect, on: Pod, allocation: Allocation, now: float, phase: Phase
) -> None:
    decision = dialect.decision(on, NODE)
    if not any((*allocation.containers, *allocation.init_containers)):
        return  # nobody asked for cards: there may be nothing to read
    assert decision is not None
    assert dialect.decided_node(on) == decision.node == "n1"
    assert decision.allocation == allocation
    assert (decision.decided_at, decision.phase, decision.problem) == (now, phase, "")


def test_every_dialect_is_found_by_its_name() -> None:
    assert {name: find_dialect(name).name for name in DIALECTS} == {name: name for name in DIALECTS}


def test_an_unknown_dialect_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownDialect, match="'nvidia'; there are gpu-manager, gpu-scheduler, "):
        find_dialect("nvidia")
