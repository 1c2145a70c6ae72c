"""The views that each kind of report has beside those of the page, in the order of its tabs."""

from typing import Final

from podium.web.report_file import ReportView

COMPARISON: Final = (
    ReportView("compare", "Compare", "compare.js", "showCompare"),
    ReportView("pods", "Pods", "compare_pods.js", "showComparePods"),
    ReportView("nodes", "Nodes", "compare_nodes.js", "showCompareNodes"),
)
CONSEQUENCES: Final = ReportView("what-if", "What if", "what_if_report.js", "showWhatIf")
NODE_FAILURES: Final = ReportView(
    "node-failures", "Node failures", "failures_report.js", "showNodeFailures"
)
ZONE_FAILURES: Final = ReportView(
    "zone-failures", "Zone failures", "failures_report.js", "showZoneFailures"
)
GPU_PACKING: Final = (ReportView("gpu-packing", "GPU packing", "study_report.js", "showStudy"),)
PENDING: Final = (ReportView("pending", "Pending", "pending_report.js", "showPending"),)
CAPACITY: Final = (ReportView("capacity", "Capacity", "capacity_report.js", "showCapacity"),)
SCENARIO: Final = (ReportView("scenario", "Scenario", "scenario_report.js", "showScenario"),)
SCENARIO_COMPARISON: Final = (
    ReportView("compare", "Compare", "scenario_compare_report.js", "showScenarioCompare"),
)
SWEEP: Final = (ReportView("sweep", "Sweep", "sweep_report.js", "showSweep"),)
REPLAY: Final = (ReportView("replay", "Replay", "replay_report.js", "showReplay"),)
REPLAY_CHECK: Final = (
    ReportView("decisions", "Recorded decisions", "replay_report.js", "showReplayCheck"),
)
OPTIMUM: Final = (ReportView("optimum", "Optimum", "optimum_report.js", "showOptimum"),)
REBALANCE: Final = (ReportView("rebalance", "Rebalance", "rebalance_report.js", "showRebalance"),)
