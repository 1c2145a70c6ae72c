"""The name of a scheduler that nobody serves."""

from collections.abc import Iterator

from msgspec.structs import replace

from podium.golang.errors import closest
from podium.scheduler.explain.proposals.proposal import Step
from podium.scheduler.explain.proposals.situation import SearchSituation
from podium.scheduler.framework.explanations import disturbance


def propose_other_scheduler(situation: SearchSituation) -> Iterator[Step]:
    pod, profiles = situation.pod, situation.trial.engine.profiles
    name = pod.spec.scheduler_name
    if name in profiles:
        return
    alike = closest(name, list(profiles))
    for profile in sorted(profiles, key=lambda each: each != alike):
        typo = profile == alike
        yield situation.step_for_pod(
            "change-scheduler-name",
            f"use schedulerName {profile} in place of {name}, which nobody here serves",
            disturbance.CORRECT_NAME if typo else disturbance.CHANGE_SCHEDULER,
            replace(pod, spec=replace(pod.spec, scheduler_name=profile)),
        )
