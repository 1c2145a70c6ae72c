"""`podium.extenders`, which extenders of the release before import."""

import importlib
import sys

import pytest

from podium.addons import extenders


def test_the_earlier_name_has_the_same_classes_and_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "podium.extenders", raising=False)
    with pytest.warns(FutureWarning, match=r"podium\.extenders is now podium\.addons\.extenders"):
        earlier = importlib.import_module("podium.extenders")
    assert {name: getattr(earlier, name) for name in earlier.__all__} == {
        name: getattr(extenders, name) for name in extenders.__all__
    }
