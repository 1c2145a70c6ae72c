"""What a run of the tests promises: a hang fails by name, and the report says what to do next."""

from pathlib import Path

import pytest
from support.suite import order, report, time_limit
from support.suite.reach import Reach
from support.suite.requirements import KUBECTL

PLUGINS = [f"-p{plugin.__name__}" for plugin in (order, report, time_limit)]
# Plugins that take long to load and have no part in this.
ALONE = ("-pno:hypothesispytest", "-pno:xdist", "-pno:pytest_cov", "-pno:cacheprovider")


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    tests = str(Path(__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", tests, prepend=":")
    monkeypatch.setenv("PODIUM_SEED", "42")
    # Dask leaves one behind for its workers.
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    return pytester


def lines_of(pytester: pytest.Pytester, *arguments: str) -> str:
    return pytester.runpytest_subprocess(*PLUGINS, *ALONE, *arguments).stdout.str()


def test_a_test_that_hangs_fails_with_its_stack_and_the_next_one_runs(run: pytest.Pytester) -> None:
    run.makepyfile(
        """
        import threading
        import pytest

        @pytest.mark.time_limit(0.5)
        def test_hanging():
            threading.Event().wait()

        def test_after_it():
            pass
        """
    )
    told = lines_of(run, "-W", "ignore::pytest.PytestUnknownMarkWarning")

    assert "test_hanging did not end within 0.5 s" in told
    assert "in test_hanging" in told
    assert "1 failed, 1 passed" in told


def test_a_failure_is_told_with_its_seed_and_how_to_run_it_alone(run: pytest.Pytester) -> None:
    run.makepyfile(test_it="def test_wrong():\n    assert False\n")

    told = lines_of(run, "--order-seed=3")

    assert "PODIUM_SEED=42 .venv/bin/pytest --order-seed=3 test_it.py::test_wrong" in told


def test_skipped_tests_are_grouped_with_what_would_run_them(run: pytest.Pytester) -> None:
    run.makepyfile(
        """
        from support.suite.requirements import KUBECTL

        def test_one():
            KUBECTL.skip()

        @KUBECTL.skip_unless(None)
        def test_two():
            pass
        """
    )
    told = lines_of(run)

    assert f"    2  no kubectl; to run them: {KUBECTL.enable}" in told


def test_where_the_time_went_is_told_by_file(run: pytest.Pytester) -> None:
    run.makepyfile(test_a="def test_a():\n    pass\n", test_b="def test_b():\n    pass\n")

    told = lines_of(run)

    assert "in all, over 2 files" in told
    assert "1 tests  test_a.py" in told


def order_of(pytester: pytest.Pytester, seed: int) -> list[str]:
    told = lines_of(pytester, f"--order-seed={seed}", "--collect-only", "-q")
    return [line for line in told.splitlines() if "::" in line]


def test_the_same_number_gives_the_same_order_and_another_one_another(run: pytest.Pytester) -> None:
    body = "\n".join(f"def test_{number}():\n    pass\n" for number in range(12))
    run.makepyfile(test_a=body, test_b=body)

    first, again, other = order_of(run, 1), order_of(run, 1), order_of(run, 2)

    assert first == again != other
    assert sorted(first) == sorted(other)
    files = [line.partition("::")[0] for line in first]
    assert files in (
        ["test_a.py"] * 12 + ["test_b.py"] * 12,
        ["test_b.py"] * 12 + ["test_a.py"] * 12,
    )


@pytest.fixture(scope="module")
def reach() -> Reach:
    return Reach()


@pytest.mark.parametrize(
    ("changed", "reached", "spared"),
    [
        (
            "src/podium/scheduler/explain/explanation.py",
            "tests/commands/test_explain.py",
            "tests/kubernetes/cel",
        ),
        (
            "src/podium/commands/capacity.py",
            "tests/commands/test_capacity.py",
            "tests/kubernetes/cel",
        ),
        ("tests/support/suite/report.py", "tests/suite/test_runs.py", "tests/scheduler/engine"),
        (
            "docs/walkthroughs/first-steps.md",
            "tests/e2e/test_walkthroughs.py",
            "tests/scheduler/engine",
        ),
        ("src/podium/kubernetes/rules/quantity.py", "tests/e2e/test_up.py", "tests/net/files"),
    ],
)
def test_a_change_reaches_the_tests_that_depend_on_it(
    changed: str, reached: str, spared: str, reach: Reach
) -> None:
    tests = reach.tests_of([changed])

    assert reached in tests
    assert not [test for test in tests if test.startswith(f"{spared}/")]


def test_what_every_test_depends_on_reaches_them_all(reach: Reach) -> None:
    assert reach.tests_of(["pyproject.toml"]) == reach.tests_of(["tests/conftest.py"])
    assert "tests/kubernetes/rules/test_quantity.py" in reach.tests_of(["pyproject.toml"])
