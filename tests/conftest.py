"""Every engine that a test makes re-checks its invariants after each transition.

Those of `tests/bench` do not: where the time goes is what they look at.
"""

import pytest
from hypothesis import settings

from podium.engine import Engine

# How long an example takes says nothing on a machine that others use as well.
settings.register_profile("podium", deadline=None)
settings.load_profile("podium")


@pytest.fixture(autouse=True)
def engines_validate(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.parent.name == "bench":
        return
    defaults = {**(Engine.__init__.__kwdefaults__ or {}), "validate": True}
    monkeypatch.setattr(Engine.__init__, "__kwdefaults__", defaults)
