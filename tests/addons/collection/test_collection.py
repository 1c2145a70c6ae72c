"""The collection: every name leads to a plugin of that name."""

from podium.addons.registry import COLLECTION, find_plugin


def test_every_name_leads_to_the_plugin_that_has_it() -> None:
    for name in COLLECTION:
        found = find_plugin(name)
        assert found is not None
        assert found.name == name


def test_other_names_lead_nowhere() -> None:
    assert find_plugin("NodeName") is None
    assert find_plugin("") is None
