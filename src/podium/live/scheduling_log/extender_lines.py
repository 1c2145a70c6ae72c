"""Lines about extenders that fail and may (upstream: `schedule_one.go`)."""

from podium.live.scheduling_log.line_writer import LineWriter
from podium.scheduler.engine import Engine
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.log import pod_ref


class ExtenderLines(LineWriter):
    @classmethod
    def has_work(cls, engine: Engine) -> bool:
        return bool(engine.configuration.extenders)


class IgnoredExtenders(ExtenderLines):
    level = 0

    def search_ended(self, decision: Decision) -> None:
        verbs = {e.url_prefix: e.filter_verb for e in self.engine.configuration.extenders}
        for asked in decision.consulted:
            if asked.problem and asked.ignored and verbs.get(asked.url_prefix) == asked.verb:
                text = "Skipping extender as it returned error and has ignorable flag set"
                self.log.info(text, extender=asked.url_prefix, err=asked.problem)


class IgnoredBinders(ExtenderLines):
    level = 0

    def bind_started(self, binding: Binding, plugin: str) -> None:
        if plugin != binding.profile.bind[0].name:
            return
        for problem in binding.problems:
            extender, _, err = problem.removeprefix("skipped extender ").partition(": ")
            text = "Skipping extender in bind as it returned error and has ignorable flag set"
            self.log.info(text, extender=extender, err=err)


class IgnoredPriorities(ExtenderLines):
    level = 5

    def search_ended(self, decision: Decision) -> None:
        verbs = {e.url_prefix: e.prioritize_verb for e in self.engine.configuration.extenders}
        for asked in decision.consulted:
            if asked.problem and verbs.get(asked.url_prefix) == asked.verb:
                self.log.info(
                    "Failed to run extender's priority function. No score given by this extender.",
                    v=self.level,
                    error=asked.problem,
                    pod=pod_ref(decision.pod),
                    extender=asked.url_prefix,
                )
