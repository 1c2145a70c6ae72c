"""The page of a real `podium up`: its link comes first and opens, and it ends with the cluster."""

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from support.e2e.up_process import up
from support.waiting import wait_until

ROOT = Path(__file__).parents[2]


def test_the_first_line_is_a_link_that_shows_why_a_pod_waits(tmp_path: Path) -> None:
    begun = ("--no-play", "--apply", str(ROOT / "examples" / "first-steps.yaml"))
    with up(tmp_path, "1", *begun) as cluster:
        first = cluster.output.lines[0]
        assert first.startswith("podium: see it at  http://127.0.0.1:")
        link = first.rpartition("  ")[2]
        visitor = urllib.request.build_opener()
        visitor.addheaders = [("Authorization", f"Bearer {link.rpartition('=')[2]}")]
        with visitor.open(link, timeout=60) as page:
            assert b"<title>Podium</title>" in page.read()
        origin = link.partition("/?")[0]
        with pytest.raises(urllib.error.HTTPError, match="401") as stranger:
            urllib.request.urlopen(f"{origin}/data/queue", timeout=60)
        stranger.value.close()

        def reasons() -> list[str]:
            with visitor.open(f"{origin}/data/queue", timeout=60) as answer:
                return [group["reason"] for group in json.load(answer)["groups"]]

        wait_until(lambda: "Insufficient cpu" in reasons())
        step = urllib.request.Request(
            f"{origin}/play/steps",
            data=b"{}",
            headers={"Origin": origin, "Content-Type": "application/json"},
        )
        with pytest.raises(urllib.error.HTTPError, match="405") as refused:
            visitor.open(step, timeout=60)
        refused.value.close()
        code, told = cluster.end()
        assert code == 0
        assert "Traceback" not in told
