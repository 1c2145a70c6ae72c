"""Whatever stands in metadata: an answer, never an exception, and never more than it may be."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.addons.gpu.dialect_objects import NOW, container, node, pod, registered

from podium.addons.gpu.cards.card import MAX_CARDS, Card, NodeCards, find_mistake
from podium.addons.gpu.dialects import DIALECTS, find_dialect
from podium.addons.gpu.dialects.agents import find_container
from podium.addons.gpu.dialects.dialect import Dialect, InvalidRequest, find_staleness
from podium.kubernetes.kinds.pod import Pod

CARDS = tuple(Card(at, f"GPU-{at}", "NVIDIA A10", memory=100, slots=10) for at in range(2))
LIMITS = st.one_of(st.integers(-5, 500), st.sampled_from(["1Gi", "1e30", "x", "0.5", "9" * 30]))

# Texts close to the right ones, and not at all.
PIECES = st.sampled_from(
    [
        *("GPU-0", "GPU-1", "NVIDIA", "c0", "n1", "true", "false", "success", "failed", "mig"),
        *("0", "1", "-1", "100", "9223372036854775807", "99999999999999999999", "1.5", "NaN"),
        *(",", ":", ";", "_", "[", "]", "{", "}", '"', " ", "Reported_", "allocating"),
        *('[{"id":"GPU-0","index":0,"memory":1}]', '{"deviceSplit":1,"memoryFactor":1}'),
        *('"uuid":', '"health":true', '"index":', "null", "\uff12", "\x00", "\ud800"),
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text(max_size=40))


def keys_of(dialect: Dialect) -> list[str]:
    """Every key that the dialect writes or reads, found by what it writes."""
    asking = pod({})
    written = [
        *dialect.register(CARDS, NOW).annotations,
        *dialect.clear_decision(_full_of_keys()).annotations,
        *dialect.clear_decision(_full_of_keys()).labels,
        *dialect.write_binding(asking, NOW).annotations,
        *dialect.write_binding(asking, NOW).labels,
    ]
    chosen = [
        *("hami.io/gpu-scheduler-policy", "hami.io/device-scoring-weights"),
        *("nvidia.com/use-gputype", "nvidia.com/device-topology-mode", "nvidia.com/numa-bind"),
        "nvidia.com/stuck-grace-period",
    ]
    return [*dict.fromkeys([*written, *chosen])]


def _full_of_keys() -> Pod:
    domains = ("tencent.com", "nvidia.com", "tydic.io", "hami.io")
    names = (
        *("predicate-node", "predicate-time", "predicate-gpu-idx-0", "gpu-assigned"),
        *("bind-time", "bind-phase", "vgpu-node", "vgpu-time", "vgpu-devices-allocated"),
        *("vgpu-devices-to-allocate", "vgpu-mig-allocations", "pre-allocated", "real-allocated"),
        *("assigned-phase", "metrics-node"),
    )
    keys = {f"{domain}/{name}": "" for domain in domains for name in names}
    aliyun = ("IDX", "DEV", "POD", "ASSIGNED", "ASSUME_TIME")
    keys |= {f"ALIYUN_COM_GPU_MEM_{name}": "" for name in aliyun}
    return pod({}, annotations=keys, labels=keys)


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=50)
@given(data=st.data())
def test_nodes_with_any_annotations_have_cards_or_a_refusal(name: str, data: st.DataObject) -> None:
    dialect = find_dialect(name)
    good = dialect.register(CARDS, NOW)
    annotations = {key: text for key, text in good.annotations.items() if text is not None}
    capacity: dict[str, str | int] = dict(good.capacity)
    for key in data.draw(st.lists(st.sampled_from([*good.annotations, "x"]), max_size=3)):
        annotations[key] = data.draw(TEXTS)
    for key in data.draw(st.lists(st.sampled_from([*good.capacity]), max_size=2)):
        capacity[key] = data.draw(LIMITS)
    found = dialect.node_cards(node(capacity, annotations), NOW)
    assert found.cards or found.refusal is not None
    assert find_mistake(found.cards) == ""
    assert all(len(card.links) <= MAX_CARDS for card in found.cards)
    dialect.read_config_map(found, {"gpus": data.draw(TEXTS)})


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=50)
@given(data=st.data())
def test_pods_with_any_metadata_have_a_request_and_a_decision_or_a_problem(
    name: str, data: st.DataObject
) -> None:
    dialect = find_dialect(name)
    limits = st.dictionaries(st.sampled_from(dialect.resources), LIMITS)
    metadata = st.dictionaries(st.sampled_from(keys_of(dialect)), TEXTS, max_size=6)
    hostile = pod(
        *data.draw(st.lists(limits, min_size=1, max_size=3)),
        init=tuple(container("i", each) for each in data.draw(st.lists(limits, max_size=1))),
        node=data.draw(st.sampled_from(["", "n1"])),
        annotations=data.draw(metadata),
        labels=data.draw(metadata),
    )
    with suppress(InvalidRequest):
        dialect.pod_request(hostile)
    for cards in (NodeCards(cards=CARDS), NodeCards()):
        decision = dialect.decision(hostile, cards)
        if decision is not None:
            known = {card.index for card in cards.cards}
            assert set(decision.allocation.cards()) <= known
            assert len(decision.allocation.containers) == len(hostile.spec.containers or ())
            find_staleness(hostile, decision, NOW)
    dialect.clear_decision(hostile)
    on = registered(dialect.register(CARDS, NOW))
    find_container(dialect, on, NodeCards(cards=CARDS), [hostile], 1, {})
