"""GPUs of simulated nodes as people write them."""

import pytest

from podium.addons.gpu.agents.shapes import MODELS, NAMES, make_cards, read_pool, read_shape
from podium.addons.gpu.cards.card import find_mistake
from podium.addons.gpu.cards.card_rules import find_instance
from podium.addons.gpu.dialects import DIALECTS, find_dialect
from podium.commands.node_options import NodeOptions
from podium.golang.errors import InputError
from podium.simulated.names import GPU_DIALECT, GPUS

HAMI = find_dialect("hami")


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize("name", NAMES)
def test_every_model_makes_cards_that_every_dialect_can_register(name: str, dialect: str) -> None:
    speaks = find_dialect(dialect)
    for suffix in ("", ":mig") if read_shape(f"1x{name}").model.instances else ("",):
        cards = make_cards("node-0", read_shape(f"8x{name}{suffix}"), speaks)
        assert find_mistake(cards) == ""
        assert len({card.uuid for card in cards}) == 8
        assert speaks.register(cards, 0.0).capacity


def test_cards_have_the_memory_of_their_model_in_units_of_the_dialect() -> None:
    shape = read_shape("1xA100-40GB")
    memory = {
        name: make_cards("n", shape, find_dialect(name))[0].memory for name in sorted(DIALECTS)
    }
    assert memory == {
        "gpu-manager": 160,
        "gpu-scheduler": 40960,
        "gpushare": 40,
        "gpushare-mib": 40960,
        "hami": 40960,
        "vgpu-manager": 40960,
    }


def test_cards_lie_on_numa_nodes_in_blocks_and_are_linked_as_the_model_is() -> None:
    cards = make_cards("n", read_shape("4xA100"), HAMI)
    assert [card.numa for card in cards] == [0, 0, 1, 1]
    assert cards[0].links == (0, 1220, 1210, 1210)
    loose = make_cards("n", read_shape("4xT4:numa=1:split=4"), HAMI)
    assert loose[3].links == (20, 20, 20, 0)
    assert {card.slots for card in loose} == {4}


def test_instances_of_a_card_in_mig_mode_are_those_of_its_model() -> None:
    (card,) = make_cards("n", read_shape("1xA100-40GB:mig"), HAMI)
    names = [profile.name for profile in card.profiles]
    assert names == ["1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"]
    found = find_instance(card.profiles, 0, "3g.20gb", 0, 0)
    assert found is not None
    assert (found.profile.memory, found.profile.cores) == (20480, 42)
    for model in MODELS.values():
        assert not model.instances or model.profiles(1000)[-1].cores == 100


def test_a_model_that_nobody_knows_can_be_made_up() -> None:
    (card,) = make_cards("n", read_shape("1xX1:memory=24Gi"), HAMI)
    assert (card.model, card.memory) == ("X1", 24576)
    assert read_shape("1xa100:memory=1Gi").model.product == "NVIDIA A100-SXM4-80GB"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("A100", '"A100" says no GPUs; write it as 8xA100'),
        ("", '"" says no GPUs'),
        ("0xA100", "a node has 1 to 128 GPUs, not 0"),
        ("129xA100", "a node has 1 to 128 GPUs, not 129"),
        ("8xA100-41GB", 'no model of GPU is known as "A100-41GB"; did you mean A100-40GB?'),
        ("8xQuux", "any other one needs its memory: Quux:memory=24Gi"),
        ("8xT4:mig", "T4 cannot be split into MIG instances"),
        ("8xA100:mig:mig", '"mig" is no option of GPUs'),
        ("8xA100:mig=1", '"mig=1" is no option of GPUs'),
        ("8xA100:numa", '"numa" is no option of GPUs'),
        ("8xA100:fast", "there are mig, numa=N, split=N and memory=AMOUNT"),
        ("8xA100:numa=9", "numa=9 is not a number from 1 to 8"),
        ("8xA100:split=0", "split=0 is not a number from 1 to 1000"),
        ("8xA100:memory=much", '"much" is no memory of a GPU'),
    ],
)
def test_what_says_no_gpus_is_refused_with_what_would_be_right(text: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        read_shape(text)
    assert problem in str(refused.value)


def test_pools_say_how_many_nodes_they_are_for() -> None:
    assert read_pool("2:8xA100:mig").nodes == 2
    assert read_pool("2:8xA100:mig").shape.text == "8xA100:mig"
    assert read_pool("8xA100").nodes is None


def test_nodes_get_their_gpus_in_order_of_the_pools() -> None:
    nodes = NodeOptions(gpus=["2:8xA100-40GB", "1:4xT4"], gpu_dialect="gpushare").read_nodes(5, "")
    said = [node["metadata"].get("annotations", {}) for node in nodes]
    assert [each.get(GPUS) for each in said] == ["8xA100-40GB"] * 2 + ["4xT4", None, None]
    assert said[0][GPU_DIALECT] == "gpushare"
    rest = NodeOptions(gpus=["8xA100", "1:4xT4"]).read_nodes(3, "")
    shapes = [node["metadata"]["annotations"][GPUS] for node in rest]
    assert shapes == ["8xA100", "8xA100", "4xT4"]


@pytest.mark.parametrize(
    ("gpus", "dialect", "problem"),
    [
        (["4:8xA100"], None, "4 nodes are to have GPUs, of 3; ask for 4 nodes"),
        (["8xA100", "8xT4"], None, "two kinds of GPUs are for all nodes that are left"),
        (["8xA100"], "nobody", "no GPU dialect is called 'nobody'; there are gpu-manager"),
        (None, "hami", "--gpu-dialect is for nodes with GPUs"),
    ],
)
def test_gpus_that_do_not_go_with_the_nodes_are_refused(
    gpus: list[str] | None, dialect: str | None, problem: str
) -> None:
    with pytest.raises(InputError) as refused:
        NodeOptions(gpus=gpus, gpu_dialect=dialect).read_nodes(3, "")
    assert problem in str(refused.value)
