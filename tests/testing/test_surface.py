"""What tests of plugins import: a promise from release to release."""

import subprocess
import sys

import podium.testing

SURFACE = {
    "BrokenPromise", "EmbeddedCluster", "FakeApi", "FakeClock", "FakeCluster", "NotTried",
    "SimulatedClusterOptions", "assert_fits", "assert_placed", "assert_promises",
    "assert_rejected", "assert_scores", "assert_unplaced", "check_promises", "cycle_for",
    "describe_decision", "embedded_cluster", "filter_answers", "make_cluster", "make_handle",
    "make_node", "make_pod", "present_rows", "score_answers", "scores_of",
}  # fmt: skip


def test_what_tests_import_is_there_and_stays() -> None:
    assert set(podium.testing.__all__) == SURFACE
    assert all(hasattr(podium.testing, name) for name in SURFACE)


def test_a_name_that_is_not_there_is_refused_as_usual() -> None:
    assert not hasattr(podium.testing, "make_cake")


def test_the_kit_loads_no_test_tools_no_api_server_and_no_command_line() -> None:
    code = (
        "import sys, podium.testing\n"
        "for name in ('hypothesis', 'pytest', 'podium.apiserver', 'podium.commands', 'aiohttp'):\n"
        "    assert name not in sys.modules, name\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
