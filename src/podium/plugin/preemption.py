"""What plugins that change preemption build on: DefaultPreemption, and its rules by themselves.

Apart from `podium.plugin` because the in-tree plugins come with it, which a filter or a score has
no use for. `PreemptionToleration` and `CrossNodePreemption` are written with it.

    from podium.plugin import Cycle, PodInfo
    from podium.plugin.preemption import DefaultPreemption, VictimRules

    class SpareDatabases(DefaultPreemption):
        name = "SpareDatabases"

        def victim_rules(self, cycle: Cycle) -> VictimRules:
            return DatabasesStay()

    class DatabasesStay(VictimRules):
        def may_leave(self, trial: Cycle, pod: PodInfo) -> bool:
            is_database = "database" in (pod.pod.metadata.labels or {})
            return pod.priority < trial.pod.priority and not is_database
"""

from podium.scheduler.config.args_validation import args_problems
from podium.scheduler.config.plugin_args import DefaultPreemptionArgs
from podium.scheduler.plugins.default_preemption import DefaultPreemption
from podium.scheduler.plugins.default_preemption.dry_run import (
    Candidate,
    VictimRules,
    importance,
    rank,
    split_by_budget,
)
from podium.scheduler.plugins.default_preemption.pod_groups import (
    Unit,
    select_victims,
    weaker_than,
)

__all__ = [
    "Candidate",
    "DefaultPreemption",
    "DefaultPreemptionArgs",
    "Unit",
    "VictimRules",
    "args_problems",
    "importance",
    "rank",
    "select_victims",
    "split_by_budget",
    "weaker_than",
]
