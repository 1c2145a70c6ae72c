"""`podium story`: what happened to this pod, from beginning to end?"""

from typing import Annotated

from cyclopts import Parameter

from podium.commands.answering import ON_A_TERMINAL, Answer, answers
from podium.commands.options import PodReference
from podium.commands.recorded_options import DECIDE_ANEW, RecordedOptions
from podium.commands.simulation_options import BY_DEFAULT, SimulationOptions


@answers("story", ON_A_TERMINAL)
def story(
    pod: PodReference,
    /,
    *paths: Annotated[str, Parameter(help="More files, as with -f.")],
    options: SimulationOptions = BY_DEFAULT,
    recorded: RecordedOptions = DECIDE_ANEW,
) -> Answer:
    """Tell everything that happened to a pod, in order and with reasons.

    The cluster is that of kubectl's current context, of which a snapshot is read and nothing is
    ever written, or comes from files as with `podium simulate`. The run is that of `simulate`, to
    its end. Times are seconds on its virtual clock: an attempt takes a millisecond, and when
    everybody waits, the clock jumps. Each attempt is told with what it found: the node and its
    score, or who ruled out how many nodes. Each event that let the pod try again is told with the
    object it happened to and the plugin that had asked to be told. A pod that runs already has a
    story if something happens to it.

    `podium explain` takes a single decision apart; this tells how it came to it.

    With `--recorded` nothing is simulated: a scheduler that runs, Podium's own, is asked what has
    happened to the pod.

    **Examples**

    ```
    podium story render -f cluster.yaml -f pods.yaml
    podium story sts/db -n shop --context production
    podium story kube-system/coredns-5d4 -f cluster.json --config scheduler.yaml
    podium story render -f cluster.yaml -f pods.yaml -o json | jq '.story[].what'
    ```

    **Exit code** 0 if the pod has a node in the end, 1 if not, 2 if the input is wrong, 70 if
    Podium has a bug.
    """
    from podium.commands.preparation import prepare_simulation
    from podium.commands.recorded import ask_scheduler
    from podium.commands.recorded_view import show_recorded_story
    from podium.commands.simulate import tell_crashes_of
    from podium.commands.story_view import StoryView
    from podium.offline.simulate.report import PodHistory

    if recorded.is_asked:
        return ask_scheduler(pod, options.cluster, recorded, show_recorded_story)
    prepared = prepare_simulation(options.files(paths), options)
    found = prepared.require_pod(pod)
    key = f"{found.metadata.namespace}/{found.metadata.name}"
    report = prepared.run(watch=[key])
    history = PodHistory.of(report, found)
    return StoryView(history, report, report.notes, prepared.notes, tell_crashes_of(report))
