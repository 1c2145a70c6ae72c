"""Nodes with cards of all kinds and requests of all kinds, so small that cards are often full."""

from hypothesis import strategies as st

from podium.addons.gpu.cards.allocations import CardUse
from podium.addons.gpu.cards.card import NVLINK, UNLIMITED, Card, MigProfile, NodeCards, Reason
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.quota import QuotaLeft
from podium.addons.gpu.cards.requests import (
    CardKey,
    CardSelector,
    CardTopology,
    ContainerRequest,
    NodePolicy,
    PodRequest,
    ScoreWeights,
)

A100_PROFILES = (
    MigProfile("1g.5gb", 5, 14, 1, (0, 1, 2, 3, 4, 5, 6)),
    MigProfile("2g.10gb", 10, 28, 2, (0, 2, 4)),
    MigProfile("3g.20gb", 20, 42, 4, (0, 4)),
    MigProfile("7g.40gb", 40, 100, 8, (0,)),
)
UUIDS = ("u0", "u1", "u2")
MODELS = ("NVIDIA A100", "NVIDIA T4", "")


def unused(count: int, memory: int = 4, **more: object) -> NodeCards:
    """A node with so many equal cards."""
    return NodeCards(tuple(Card(i, memory=memory, **more) for i in range(count)))  # type: ignore[arg-type]


def rarely(value: object, usual: object) -> st.SearchStrategy[object]:
    return st.sampled_from((usual, usual, usual, usual, value))


@st.composite
def cards(draw: st.DrawFn, index: int, peers: int) -> Card:
    return Card(
        index,
        uuid=draw(st.sampled_from(UUIDS)),
        model=draw(st.sampled_from(MODELS)),
        memory=draw(st.sampled_from((4, 4, 6, 40))),
        cores=draw(st.sampled_from((100, 100, 100, 50, 0))),
        slots=draw(st.sampled_from((UNLIMITED, 2, 1, 0, 10))),
        numa=draw(st.sampled_from((0, 0, 1, -1))),
        healthy=bool(draw(rarely(False, True))),
        cordoned=bool(draw(rarely(True, False))),
        profiles=draw(st.sampled_from(((), (), A100_PROFILES, A100_PROFILES[:2]))),
        links=draw(
            st.one_of(
                st.just(()),
                st.lists(st.sampled_from((0, 10, NVLINK)), min_size=peers, max_size=peers + 1).map(
                    tuple
                ),
            )
        ),
    )


@st.composite
def nodes(draw: st.DrawFn) -> NodeCards:
    indexes = draw(st.sampled_from(((), (0,), (0, 1), (0, 1, 2), (1, 3), (0, 1, 2, 3, 4))))
    refusal = draw(rarely(Reason.HEARTBEAT_TIMEOUT, None))
    peers = max(indexes, default=0) + 1
    assert refusal is None or isinstance(refusal, Reason)
    return NodeCards(tuple(draw(cards(index, peers)) for index in indexes), refusal)


uses = st.dictionaries(
    st.integers(-1, 5),
    st.builds(
        CardUse,
        st.sampled_from((0, 0, 10, 50, 100)),
        st.integers(0, 5),
        st.integers(0, 2),
        st.sampled_from((0, 0, 1, 2, 0b1100, 0b11110000)),
    ),
    max_size=4,
)

containers = st.builds(
    ContainerRequest,
    cards=st.sampled_from((1, 1, 1, 2, 3, 0)),
    cores=st.sampled_from((0, 10, 30, 50, 100)),
    memory=st.integers(0, 4),
    memory_percent=st.sampled_from((None, None, None, 25, 50, 100)),
    exclusive=st.sampled_from((False, False, False, True)),
    whole=st.sampled_from((False, False, False, True)),
    mig=st.sampled_from((False, False, False, True)),
    mig_profile=st.sampled_from(("",) * 9 + ("1g.5gb", "3g.20gb", "4g.20gb")),
)
selectors = st.one_of(
    st.just(CardSelector()),
    st.builds(
        CardSelector,
        models=st.sampled_from(((), ("a100",), ("T4", "a100"))),
        not_models=st.sampled_from(((), ("t4",))),
        uuids=st.sampled_from(((), ("u0", "u1"), ("u2",))),
        not_uuids=st.sampled_from(((), ("u0",))),
    ),
)
requests = st.builds(
    PodRequest,
    containers=st.lists(st.one_of(st.none(), containers, containers), max_size=3).map(tuple),
    init_containers=st.lists(st.one_of(st.none(), containers), max_size=2).map(tuple),
    sidecars=st.lists(st.booleans(), max_size=2).map(tuple),
    selector=selectors,
    node_policy=st.sampled_from(NodePolicy),
    card_order=st.lists(st.sampled_from(CardKey), max_size=3).map(tuple),
    idle_only=st.sampled_from((False, False, False, True)),
    topology=st.sampled_from((CardTopology.NONE, *CardTopology)),
    weights=st.sampled_from((ScoreWeights(), ScoreWeights(1, 1, 3), ScoreWeights(0, 2, 1))),
)
quotas = st.one_of(
    st.none(),
    st.none(),
    st.builds(QuotaLeft, st.sampled_from((None, 0, 60, 200)), st.sampled_from((None, 0, 3, 7, 50))),
)


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 4) -> CardTable:
    table = CardTable()
    for row, node in enumerate(draw(st.lists(nodes(), min_size=1, max_size=max_rows))):
        table.put_node(row, node)
        table.charge(row, draw(uses))
    return table
