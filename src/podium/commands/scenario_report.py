"""`podium scenario run --html` and `podium scenario compare --html`: days as one file for browsers.

Contract: bounded. Lists end where they are too long for a page, and how many there are is told.
"""

from collections.abc import Mapping
from typing import Any, Final

from podium.commands.html_report import MAX_ROWS, bound_fields
from podium.net.files.versioned_documents import add_version
from podium.offline.scenarios.durations import format_duration
from podium.offline.what_if.comparison_answer import ComparisonAnswer
from podium.offline.what_if.metric_words import describe_metrics

MAX_RUNS: Final = 5_000
"""Of all configurations and inputs together."""


def scenario_report(fields: Mapping[str, Any], command: str) -> bytes:
    """`fields` are those of the document that the command prints."""
    from podium.web.report_file import Fact, make_report_file, report_overview
    from podium.web.report_views import SCENARIO

    metrics = fields["metrics"]
    pending = int(metrics["pending"])
    facts = [
        Fact(format_duration(fields["durationSeconds"]), "simulated"),
        Fact.count(int(metrics["arrived"]), "pod"),
        Fact(f"{pending:,}", "pending", bool(pending)),
    ]
    bounded, totals = bound_fields(
        fields, {"pods": MAX_ROWS, "workloads": MAX_ROWS, "pendingReasons": MAX_ROWS}
    )
    documents = {
        "overview": report_overview(
            command, facts, totals=totals, metricWords=describe_metrics(metrics)
        ),
        "scenario": add_version("ScenarioRun", bounded),
    }
    return make_report_file(documents, SCENARIO)


def scenario_comparison_report(
    fields: Mapping[str, Any], answer: ComparisonAnswer, length_s: float, command: str
) -> bytes:
    """`fields` are those of the document that the command prints."""
    from podium.web.report_file import Fact, make_report_file, report_overview
    from podium.web.report_views import SCENARIO_COMPARISON

    facts = [
        Fact(format_duration(length_s), "simulated"),
        Fact.count(len(answer.names), "configuration"),
        Fact.count(len(answer.seeds), "seed"),
    ]
    documents = {
        "overview": report_overview(
            command,
            facts,
            totals={"runs": len(fields["runs"])},
            metricWords=describe_metrics(answer.metrics),
        ),
        "scenario-comparison": add_version("ScenarioComparison", bound_runs(fields)),
    }
    return make_report_file(documents, SCENARIO_COMPARISON)


def bound_runs(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A document with the runs of the first seeds, so that each of them has all its runs."""
    runs, seeds = fields["runs"], fields["seeds"]
    kept = {*seeds[: max(1, MAX_RUNS * len(seeds) // max(1, len(runs)))]}
    return {**fields, "runs": [run for run in runs if run["seed"] in kept]}
