"""`podium compare --html`: configurations side by side as one file for browsers."""

from collections.abc import Mapping
from typing import Any

from podium.net.files.versioned_documents import add_version
from podium.offline.simulate import Scenario
from podium.offline.what_if.comparison_answer import ComparisonAnswer
from podium.offline.what_if.metric_words import describe_metrics


def comparison_report(
    fields: Mapping[str, Any],
    answer: ComparisonAnswer,
    scenario: Scenario,
    command: str,
) -> bytes:
    """`fields` are those of the document that the command prints."""
    from podium.web.comparison_view import comparison_view
    from podium.web.report_file import Fact, make_report_file, report_overview
    from podium.web.report_views import COMPARISON

    facts = [
        Fact.count(len(answer.names), "configuration"),
        Fact.count(len(answer.seeds), "seed"),
        Fact.count(len(scenario.nodes), "node"),
        Fact.count(answer.pod_count, "pod"),
    ]
    view = comparison_view(answer, scenario)
    # Pods are in the view, with reasons, and no more of them than a browser can take.
    documents = {
        "overview": report_overview(command, facts, metricWords=describe_metrics(answer.metrics)),
        "comparison": add_version("Comparison", {**fields, "differentPods": []}),
        "comparison-view": add_version("ComparisonView", view),
    }
    return make_report_file(documents, COMPARISON)
