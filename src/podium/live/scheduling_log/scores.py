"""Lines about scores, one a node and plugin (upstream: `prioritizeNodes` in `schedule_one.go`)."""

from podium.live.scheduling_log.line_writer import LineWriter
from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.log import pod_ref


class Scores(LineWriter):
    level = 10

    def search_ended(self, decision: Decision) -> None:
        total = decision.total
        if total is None:
            return
        pod = pod_ref(decision.pod)
        names = [decision.node_names[row] for row in decision.feasible.tolist()]
        extenders = {extender.url_prefix for extender in self.engine.configuration.extenders}
        for position, node in enumerate(names):
            for by, score in decision.node_scores(position).items():
                who = "extender" if by in extenders else "plugin"
                text = f"{who.capitalize()} scored node for pod"
                points = score.raw if by in extenders else score.weighted
                fields = {who: by, "node": node, "score": points}
                self.log.info(text, v=self.level, pod=pod, **fields)
        for node, points in zip(names, total.tolist(), strict=True):
            text = "Calculated node's final score for pod"
            self.log.info(text, v=self.level, pod=pod, node=node, score=points)
