"""Changes that plugins of users think of are tried, and told if they work."""

import pytest
from support.commands.command_line import node, pod, podium, writer
from support.user_code.plugin_files import Source

pytestmark = pytest.mark.usefixtures("own_modules")

LICENCE = """
    from msgspec.structs import replace

    from podium.plugin import ChangeKind, PreFilterPlugin, ProposedChange, unresolvable

    class Licensed(PreFilterPlugin):
        name = "Licensed"

        def pre_filter(self, cycle):
            labels = cycle.pod.pod.metadata.labels or {}
            return None if labels.get("licence") == "basic" else unresolvable("no licence is left")

        def propose_changes(self, pod, status):
            {body}

        def labelled(self, pod, value):
            metadata = replace(pod.metadata, labels=dict(pod.metadata.labels or {}, licence=value))
            return replace(pod, metadata=metadata)
"""
WORKS = """return [
                ProposedChange(f"use-{value}", f"use the licence {value}, " + status.message,
                               ChangeKind.GIVE_EXISTING_VALUE, pod=self.labelled(pod.pod, value))
                for value in ("gold", "basic")
            ]"""


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def explain(
    capsys: pytest.CaptureFixture[str], source: Source, tmp_path: object, body: str
) -> list[dict[str, object]]:
    objects = writer(tmp_path)(node(), pod("p"))  # type: ignore[arg-type]
    plugin = source(LICENCE.replace("{body}", body))
    done = podium(capsys, "why", "p", "-f", objects, "--plugin", plugin, "-o", "json")
    found: list[dict[str, object]] = done.decoded()["proposals"]
    return found


def test_of_the_changes_of_a_plugin_those_are_told_that_work(
    capsys: pytest.CaptureFixture[str], source: Source, tmp_path: object
) -> None:
    (proposal,) = explain(capsys, source, tmp_path, WORKS)
    assert proposal["code"] == "use-basic"
    assert "licence basic, no licence is left" in str(proposal)


@pytest.mark.parametrize("body", ["raise ValueError('odd')", "return [1, None]", "return 3"])
def test_a_plugin_that_breaks_has_no_changes(
    capsys: pytest.CaptureFixture[str], source: Source, tmp_path: object, body: str
) -> None:
    assert explain(capsys, source, tmp_path, body) == []
