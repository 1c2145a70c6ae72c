"""What a namespace may use of GPUs."""

import numpy as np
import pytest

from podium.addons.gpu.cards.quota import (
    InvalidQuota,
    NamespaceQuota,
    QuotaAmounts,
    QuotaLeft,
    eligible_models,
    nodes_within_quota,
    quota_left,
    read_quotas,
    requested_cores,
)
from podium.addons.gpu.cards.requests import ContainerRequest, PodRequest

MODELS = {"M40": 0, "P100": 1}
POOLS = {"public": 0, "private": 1}


def within(quota: NamespaceQuota | None, models: frozenset[str]) -> list[bool]:
    """Nodes: M40 public, P100 public, M40 private, without labels."""
    node_models, node_pools = np.array([0, 1, 0, -1]), np.array([0, 0, 1, -1])
    mask = nodes_within_quota(quota, models, node_models, node_pools, MODELS, POOLS)
    return [bool(each) for each in mask]


def test_the_document_names_cards_by_model_and_pools() -> None:
    quotas = read_quotas('{"a": {"quota": {"M40": 2}, "pool": ["public"]}, "b": null}')
    assert quotas == {"a": NamespaceQuota({"M40": 2}, ("public",)), "b": NamespaceQuota()}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": {"quota": {"M40": "two"}}}', "Expected `int`, got `str` - at `$[...].quota[...]`"),
        ('{"a": {"quota": {"M40": -1}}}', "Expected `int` >= 0 - at `$[...].quota[...]`"),
        ("[]", "Expected `object`, got `array`"),
        ('{"a": ', "Input data was truncated"),
    ],
)
def test_a_document_that_cannot_be_read_says_where_and_what_would_be_right(
    text: str, told: str
) -> None:
    with pytest.raises(InvalidQuota) as error:
        read_quotas(text)
    assert str(error.value) == (
        f"gpu_quota: {told}; right would be "
        '{"<namespace>": {"quota": {"<model>": <cards>}, "pool": ["<pool>"]}}'
    )


def test_a_model_is_eligible_while_the_pod_fits_into_its_cards() -> None:
    quota = NamespaceQuota({"M40": 2, "P100": 1, "T4": 0})
    assert eligible_models(quota, {"M40": 150, "P100": 60}, 50) == {"M40"}
    assert eligible_models(quota, {"M40": 150, "P100": 50}, 50) == {"M40", "P100"}
    assert eligible_models(quota, {}, 0) == {"M40", "P100", "T4"}


def test_nodes_pass_by_model_and_by_pool() -> None:
    quota = NamespaceQuota({"M40": 2}, ("public", "unknown"))
    assert within(quota, frozenset({"M40"})) == [True, False, False, False]
    anywhere = NamespaceQuota({"M40": 2})
    assert within(anywhere, frozenset({"M40", "T4"})) == [True, False, True, False]
    assert within(anywhere, frozenset()) == [False] * 4
    assert within(NamespaceQuota({"M40": 2}, ("unknown",)), frozenset({"M40"})) == [False] * 4


def test_a_namespace_that_has_no_quota_may_use_every_node() -> None:
    assert within(None, frozenset()) == [True] * 4


def test_the_tightest_quota_of_a_namespace_counts() -> None:
    assert quota_left([]) is None
    assert quota_left([QuotaAmounts()]) is None
    assert quota_left([QuotaAmounts(hard_cores=0)]) == QuotaLeft(cores=0)
    assert quota_left(
        [QuotaAmounts(200, 50, 16, 2), QuotaAmounts(hard_cores=160, used_cores=50)]
    ) == QuotaLeft(110, 14)


def test_a_pod_counts_with_the_cores_of_all_its_containers() -> None:
    whole = ContainerRequest(cards=2, cores=100, exclusive=True, whole=True)
    pod = PodRequest((None, ContainerRequest(cores=30), whole), (ContainerRequest(cores=90),))
    assert requested_cores(pod) == 230
