"""Both forms of HAMi's registration, its handshake, cordons and links."""

import json

import pytest
from msgspec.structs import replace
from support.addons.gpu.dialect_objects import NOW, node

from podium.addons.gpu.cards.card import Card, MigProfile, Reason
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.reading import IN_MIG_MODE

DIALECT = find_dialect("hami")
REGISTER, HANDSHAKE = "hami.io/node-nvidia-register", "hami.io/node-handshake"
SCORES = "hami.io/node-nvidia-score"
SEVEN = "GPU-a,10,32768,100,NVIDIA-Tesla V100-PCIE-32GB,0,true:GPU-b,5,1,100,NVIDIA-T4,-1,false:"
NINE = "GPU-a,10,32768,100,NVIDIA-Tesla V100-PCIE-32GB,0,true,3,hami-core:"
JSON = (
    '[{"id":"GPU-a","count":10,"devmem":32768,"devcore":100,"type":"NVIDIA-Tesla V100-PCIE-32GB",'
    '"mode":"hami-core","health":true},'
    '{"id":"GPU-b","index":1,"count":7,"devmem":40960,"devcore":100,"type":"NVIDIA-A100","numa":1,'
    '"mode":"mig","migProfiles":[{"name":"3g.20gb","memoryMB":20480,"core":42,"sliceCount":3,'
    '"placements":[{"start":0,"size":4},{"start":4,"size":4}]}],"health":true}]'
)
V100 = Card(0, "GPU-a", "NVIDIA-Tesla V100-PCIE-32GB", 32768, slots=10, numa=0, mode="hami-core")


def read(text: str, **more: str) -> tuple[Card, ...]:
    found = DIALECT.node_cards(node({}, {REGISTER: text, **more}), NOW)
    assert found.refusal is None, found.detail
    return found.cards


def test_the_form_with_seven_fields() -> None:
    unhealthy = Card(1, "GPU-b", "NVIDIA-T4", 1, slots=5, numa=-1, healthy=False, mode="hami-core")
    assert read(SEVEN) == (V100, unhealthy)


def test_the_form_with_nine_fields() -> None:
    assert read(NINE) == (replace(V100, index=3),)


def test_the_form_in_json() -> None:
    profile = MigProfile("3g.20gb", memory=20480, cores=42, width=4, placements=(0, 4))
    a100 = Card(1, "GPU-b", "NVIDIA-A100", 40960, slots=7, numa=1, mode="mig", profiles=(profile,))
    assert read(JSON) == (V100, a100)


def test_a_card_in_mig_mode_without_profiles_has_none_to_give() -> None:
    assert read('[{"id":"GPU-a","mode":"mig"}]')[0].profiles == IN_MIG_MODE


def test_what_an_agent_of_today_writes() -> None:
    write = DIALECT.register((V100,), NOW)
    assert write.annotations == {
        REGISTER: (
            '[{"id":"GPU-a","count":10,"devmem":32768,"devcore":100,'
            '"type":"NVIDIA-Tesla V100-PCIE-32GB","mode":"hami-core","health":true}]'
        ),
        SCORES: None,
        HANDSHAKE: "Reported_2027-01-15 08:00:00",
        "hami.io/device-cordon": None,
    }
    assert write.capacity == {"nvidia.com/gpu": "10"}


def test_cordoned_cards() -> None:
    cards = read(SEVEN, **{"hami.io/device-cordon": " GPU-b ,, GPU-z"})
    assert [card.cordoned for card in cards] == [False, True]


def test_links_are_pairs_of_scores() -> None:
    scores = [
        {"uuid": "GPU-a", "score": {"GPU-b": 200}},
        {"uuid": "GPU-b", "score": {"GPU-a": 200}},
    ]
    assert [card.links for card in read(SEVEN, **{SCORES: json.dumps(scores)})] == [
        (0, 200),
        (200, 0),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Reason.NOT_REGISTERED),
        ("[]", Reason.NO_CARDS),
        (":", Reason.NO_CARDS),
        ("GPU-a", Reason.BAD_REGISTRATION),
        ("GPU-a,1:", Reason.BAD_REGISTRATION),
        ("GPU-a,1,1,1,m,0,maybe:", Reason.BAD_REGISTRATION),
        ("GPU-a,1,1,1,m,zero,true:", Reason.BAD_REGISTRATION),
        ("GPU-a,1,1,1,m,0,true,-1,hami-core:", Reason.BAD_REGISTRATION),
        (",1,1,1,m,0,true:", Reason.BAD_REGISTRATION),
        ('[{"id":"GPU;a"}]', Reason.BAD_REGISTRATION),
        ('[{"id":"a","index":1000}]', Reason.BAD_REGISTRATION),
        ('[{"id":"a","index":1},{"id":"b","index":1}]', Reason.BAD_REGISTRATION),
        ('[{"id":"a","devmem":1e400}]', Reason.BAD_REGISTRATION),
        ('[{"id":"a","mode":"mig","migProfiles":[{"name":"x"}]}]', Reason.BAD_REGISTRATION),
        ("GPU-a,1,1,1,m,0,true:" * 300, Reason.BAD_REGISTRATION),
    ],
)
def test_a_registration_that_cannot_be_read_refuses_the_node(text: str, reason: Reason) -> None:
    found = DIALECT.node_cards(node({}, {REGISTER: text}), NOW)
    assert (found.cards, found.refusal) == ((), reason)
    assert REGISTER in found.detail


def test_link_scores_that_cannot_be_read_refuse_the_node() -> None:
    found = DIALECT.node_cards(node({}, {REGISTER: SEVEN, SCORES: "?"}), NOW)
    assert found.refusal is Reason.BAD_REGISTRATION
    assert SCORES in found.detail


@pytest.mark.parametrize(
    ("handshake", "silent"),
    [
        ("", False),
        ("Reported_2027-01-15 07:56:00", False),
        ("Reported_2027-01-15 07:54:00", True),
        ("Reported 2027-01-15 07:54:00.123 +0000 UTC", True),
        ("Requesting_2027-01-15 07:59:30", False),
        ("Requesting_2027-01-15 07:58:00", True),
        ("Requesting_2027.01.15 07:58:00", False),
        ("Deleted_2027-01-15 07:59:59", True),
        ("Requesting", False),
        ("Deleted_9999-99-99 99:99:99", False),
    ],
)
def test_a_silent_agents_node_is_gone_unless_the_kubelet_has_its_devices(
    handshake: str, silent: bool
) -> None:
    annotations = {REGISTER: SEVEN, HANDSHAKE: handshake}
    found = DIALECT.node_cards(node({}, annotations), NOW)
    assert found.refusal is (Reason.HEARTBEAT_TIMEOUT if silent else None)
    living = DIALECT.node_cards(node({"nvidia.com/gpu": 10}, annotations), NOW)
    assert living.refusal is None
