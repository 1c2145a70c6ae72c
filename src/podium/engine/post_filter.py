"""Running PostFilter plugins and combining what they say (engine spec 4.2, 5.7).

The first success ends the phase and drops earlier texts; unschedulable answers are collected; an
unresolvable one or an error ends the phase with its own text alone.
"""

from collections.abc import Sequence

from podium.framework.cycle import Cycle
from podium.framework.diagnosis import Diagnosis
from podium.framework.faults import describe
from podium.framework.points import PostFilterPlugin, PostFilterResult
from podium.framework.status import Code


def run_post_filters(
    plugins: Sequence[PostFilterPlugin], cycle: Cycle, diagnosis: Diagnosis
) -> PostFilterResult:
    reasons: list[str] = []
    nominated: str | None = None
    code = Code.UNSCHEDULABLE
    for plugin in plugins:
        try:
            answer = plugin.post_filter(cycle, diagnosis)
        except Exception as problem:
            return PostFilterResult(Code.ERROR, (describe(problem),))
        if answer.code is Code.SUCCESS:
            return answer
        if answer.code is Code.UNRESOLVABLE:
            return PostFilterResult(answer.code, answer.reasons, answer.nominated_node)
        if not answer.code.rejected:
            return PostFilterResult(Code.ERROR, answer.reasons)
        reasons.extend(answer.reasons)
        if answer.nominated_node is not None:
            nominated = answer.nominated_node
    return PostFilterResult(code, tuple(reasons), nominated)
