"""The recorded transcripts of a real API server, replayed against ours.

The transcripts and the program that replays them are not part of the project; the test runs where
they are at hand. What still differs is listed here with its reason, and in the documentation.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from apiserver_process import serving

pytestmark = pytest.mark.slow

CASES = Path(__file__).resolve().parents[2].parent / "shared" / "apiserver-cases"
KUBECTL = shutil.which("kubectl")
KNOWN_DIFFERENCES = {
    ("discovery-http", "13"): "compares which letters the index has: it names paths not served",
}
OVER_HTTP = ("http", "watch_start", "watch_collect")


@pytest.mark.skipif(not CASES.is_dir(), reason="no recorded cases at hand")
@pytest.mark.skipif(KUBECTL is None, reason="the replay reads the kubeconfig with kubectl")
def test_answers_over_http_are_those_of_the_recorded_server(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    files = sorted(CASES.glob("*.json"))
    with serving(tmp_path) as server:
        subprocess.run(
            [
                *(sys.executable, str(CASES / "replay.py"), "--json", str(report)),
                *("--kubeconfig", str(server.kubeconfig), "--kubectl", str(KUBECTL)),
                *map(str, files),
            ],
            check=False,
            capture_output=True,
            timeout=600,
        )
        _, err = server.stop()
    found = json.loads(report.read_text())["cases"]
    differing: set[tuple[str, str]] = set()
    wrong_outcome = 0
    for file in files:
        case = json.loads(file.read_text())
        over_http = {
            step.get("id", str(number))
            for number, step in enumerate(case["steps"], 1)
            if step["kind"] in OVER_HTTP
        }
        result = found[case["name"]]
        differing |= {(case["name"], step) for step in result["failed"] if step in over_http}
        wrong_outcome += result["steps"] - result["outcome"]

    assert differing <= set(KNOWN_DIFFERENCES)
    assert wrong_outcome <= 2, "kubectl of another version may differ in a step or two"
    assert "Traceback" not in err
