"""Running PostFilter plugins and combining what they say.

The first success ends the phase and drops earlier texts; unschedulable answers are collected; an
unresolvable one or an error ends the phase with its own text alone. A plugin may want extenders to
be asked before it answers.

Source: `RunPostFilterPlugins` in `pkg/scheduler/framework/runtime/framework.go`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from podium.scheduler.framework.asking import Answers, Asking, Calls, resolved
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Diagnosis
from podium.scheduler.framework.faults import WrongAnswer, describe
from podium.scheduler.framework.points import PostFilterPlugin, PostFilterResult
from podium.scheduler.framework.status import Code

POST_FILTER_SKIPPED = PostFilterResult(Code.UNSCHEDULABLE, ("All PostFilter plugins are skipped",))


def run_post_filters(
    plugins: Sequence[PostFilterPlugin],
    cycle: Cycle,
    diagnosis: Diagnosis,
    heard: Callable[[Calls, Answers], None] = lambda *_: None,
) -> Asking[PostFilterResult]:
    """The phase; `heard` is told of what extenders were asked."""
    reasons: list[str] = []
    nominated: str | None = None
    code = Code.UNSCHEDULABLE
    for plugin in plugins:
        try:
            answer = yield from resolved(plugin.post_filter(cycle, diagnosis), heard)
            if not isinstance(answer, PostFilterResult):
                raise WrongAnswer("post_filter", "a PostFilterResult", answer)
        except Exception as problem:
            return PostFilterResult(Code.ERROR, (describe(problem),))
        if answer.code is Code.SUCCESS:
            return replace(answer, plugin=plugin.name)
        if answer.code is Code.UNRESOLVABLE:
            return PostFilterResult(answer.code, answer.reasons, answer.nominated_node)
        if not answer.code.rejected:
            return PostFilterResult(Code.ERROR, answer.reasons)
        reasons.extend(answer.reasons)
        if answer.nominated_node is not None:
            nominated = answer.nominated_node
    return PostFilterResult(code, tuple(reasons), nominated)
