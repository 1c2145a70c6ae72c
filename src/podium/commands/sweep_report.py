"""`podium sweep --html`: inputs by configurations, seed by seed, as one file for browsers."""

from collections.abc import Mapping
from typing import Any

from podium.commands.scenario_report import bound_runs
from podium.net.files.versioned_documents import add_version
from podium.offline.what_if.metric_words import describe_metrics
from podium.offline.what_if.run_matrix import RunMatrix


def sweep_report(fields: Mapping[str, Any], matrix: RunMatrix, command: str) -> bytes:
    """`fields` are those of the document that the command prints."""
    from podium.web.report_file import Fact, make_report_file, report_overview
    from podium.web.report_views import SWEEP

    facts = [
        Fact.count(len(matrix.inputs), "input"),
        Fact.count(len(matrix.configurations), "configuration"),
        Fact.count(len(matrix.seeds), "seed"),
    ]
    documents = {
        "overview": report_overview(
            command,
            facts,
            totals={"runs": len(fields["runs"])},
            metricWords=describe_metrics(
                metric["name"] for cell in fields["cells"] for metric in cell["metrics"]
            ),
        ),
        "sweep": add_version("Sweep", bound_runs(fields)),
    }
    return make_report_file(documents, SWEEP)
