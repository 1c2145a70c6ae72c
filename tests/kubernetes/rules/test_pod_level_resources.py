"""What containers ask for together, held against the rule as it is usually told."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.rules.pod_level_resources import effective_amounts

_AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "a/b"]), st.integers(0, 5).map(str), max_size=3
)
_CONTAINERS = st.lists(
    _AMOUNTS.map(lambda amounts: {"resources": {"requests": amounts}}), max_size=3
)
_STARTING = st.lists(
    st.builds(
        lambda amounts, stays: {
            "resources": {"requests": amounts},
            **({"restartPolicy": "Always"} if stays else {}),
        },
        _AMOUNTS,
        st.booleans(),
    ),
    max_size=5,
)


def amount(container: dict[str, Any], name: str) -> int:
    return int(container["resources"]["requests"].get(name, "0"))


@given(_CONTAINERS, _STARTING)
def test_sidecars_count_for_all_that_starts_after_them(
    containers: list[dict[str, Any]], starting: list[dict[str, Any]]
) -> None:
    found = effective_amounts({"containers": containers, "initContainers": starting}, "requests")

    for name in ("cpu", "memory", "a/b"):
        sidecars = most = 0
        for container in starting:
            if "restartPolicy" in container:
                sidecars += amount(container, name)
                most = max(most, sidecars)
            else:
                most = max(most, sidecars + amount(container, name))
        total = sum(amount(container, name) for container in containers) + sidecars
        assert int(found.get(name, "0")) == max(total, most)
