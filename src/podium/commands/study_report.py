"""`podium study gpu-packing --html`: policies over demand, as one file for browsers."""

from collections.abc import Sequence

from podium.addons.gpu.study.results import RunResult
from podium.net.files.versioned_documents import add_version


def study_report(
    results: Sequence[RunResult],
    baseline: str,
    shown: Sequence[int],
    notes: Sequence[str],
    command: str,
) -> bytes:
    from podium.web.report_file import Fact, make_report_file, report_overview
    from podium.web.report_views import GPU_PACKING
    from podium.web.study_view import study_view

    fields = study_view(results, baseline, shown, notes)
    facts = [
        Fact.count(len(fields["traces"]), "trace"),
        Fact.count(len(fields["seeds"]), "seed"),
        Fact.count(len(results), "run"),
    ]
    documents = {
        "overview": report_overview(command, facts),
        "study": add_version("GPUPackingStudyView", fields),
    }
    return make_report_file(documents, GPU_PACKING)
