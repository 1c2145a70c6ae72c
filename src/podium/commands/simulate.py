"""`podium simulate`: where would these pods go?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.commands.answering import AS_TABLE, Answer, AnswerOptions, answers
from podium.commands.exit_codes import BROKEN, NO, OK
from podium.commands.printing import print_line, print_traceback
from podium.commands.same_command import input_text
from podium.commands.simulation_options import BY_DEFAULT, SimulationOptions

if TYPE_CHECKING:
    from podium.commands.preparation import PreparedSimulation
    from podium.offline.simulate import SimulationReport
    from podium.offline.simulate.result_annotations import AnnotationRecorder
    from podium.scheduler.engine import Engine


@answers("simulate")
def simulate(
    *paths: Annotated[str, Parameter(help="More files, as with -f.")],
    options: SimulationOptions = BY_DEFAULT,
    timeline: Annotated[
        bool,
        Parameter(
            name=["--timeline"],
            negative="",
            show_default=False,
            help="Tell what happened to each pod, and when on the virtual clock.",
        ),
    ] = False,
    annotate: Annotated[
        Path | None,
        Parameter(
            name=["--annotate"],
            metavar="FILE",
            show_default=False,
            help="Write the pods as well, with what each plugin said in the annotations of "
            "kube-scheduler-simulator.",
        ),
    ] = None,
    printed: AnswerOptions = AS_TABLE,
) -> Answer:
    """Place pending pods on nodes, without doing it: those of files, or of a cluster that runs.

    The files hold nodes, pods that run (they have a nodeName and stay where they are) and pods to
    place, in YAML or JSON: manifests, kubectl dumps or both. Deployments, StatefulSets, DaemonSets,
    Jobs and ReplicaSets become pods unless their pods are in the files too. Pods are placed in the
    order in which kube-scheduler would take them; the more important push others aside if they may.

    Without files, a snapshot is read of the cluster of kubectl's current context, and nothing is
    ever written. With files and `--kubeconfig` or `--context`, the files are what would be applied
    to that cluster: an object that is in both counts as the file has it.

    What an API server would fill in is filled in as far as it decides placements: namespaces,
    requests from limits, priorities from PriorityClasses, tolerations for not-ready and unreachable
    nodes. Evicted pods do not come back.

    **Examples**

    ```
    podium simulate -f cluster.yaml -f pods.yaml
    podium dump-command | sh          # writes cluster.json
    podium simulate -f cluster.json -f my-deployment.yaml --config scheduler.yaml
    podium simulate -f my-deployment.yaml --kubeconfig ~/.kube/config -n shop
    helm template ./chart | podium simulate -f cluster.json -f -
    podium simulate -f cluster.json -f pods/ -o json | jq '.pods[].node'
    podium simulate -f cluster.json -f pods/ --timeline --plugin my_rule.py
    podium simulate -f cluster.json -f pods/ --html report.html
    podium simulate -f export.json --annotate annotated.json
    ```

    **Exit code** 0 if all pods fit, 1 if some do not, 2 if the input is wrong, 70 if Podium has a
    bug. Pods with a scheduling gate or for another scheduler are reported and do not count.
    """
    files = options.files(paths)

    from podium.commands.preparation import prepare_simulation
    from podium.commands.simulate_view import SimulationView

    prepared = prepare_simulation(files, options)
    recorders: list[AnnotationRecorder] = []

    def observe(engine: Engine) -> None:
        if annotate is not None:
            from podium.offline.simulate.result_annotations import AnnotationRecorder

            recorders.append(AnnotationRecorder(engine))
            engine.observers.add(recorders[0])

    page = b""
    if printed.html is not None:
        report, page = _run_for_page(prepared, files, options, observe)
    else:
        with prepared.open_run(on_engine=observe) as (report, _, _):
            pass
    if annotate is not None:
        from podium.net.files.private_files import write_private_file
        from podium.offline.simulate.result_annotations import annotated_list

        write_private_file(annotate, annotated_list(report, recorders[0]))
    return SimulationView(report, tell_crashes_of(report), page, has_timeline=timeline)


def _run_for_page(
    prepared: PreparedSimulation,
    files: Sequence[str],
    options: SimulationOptions,
    observe: Callable[[Engine], None],
) -> tuple[SimulationReport, bytes]:
    """The run, and the file that shows it, for which the engine is asked once more."""
    from podium.offline.simulate.scenario import admission_of
    from podium.web.report import Recorder, report_html

    recorders: list[Recorder] = []

    def record(engine: Engine) -> None:
        recorders.append(Recorder(engine))
        observe(engine)

    with prepared.open_run(on_engine=record) as run:
        report, _, ask = run
        told = input_text(files, options)
        page = report_html(
            recorders[0],
            report,
            command_input=told,
            ask=ask,
            kubectl=options.cluster.kubectl,
            controllers=prepared.scenario.workloads,
            server=admission_of(prepared.scenario, prepared.gates),
        )
    return report, page


def exit_code(report: SimulationReport) -> int:
    """A crash is loud: it names the pod, shows where, and has an exit code of its own."""
    if tell_crashes_of(report):
        return BROKEN
    return OK if report.all_fit else NO


def tell_crashes_of(report: SimulationReport) -> bool:
    """The same of a simulation."""
    return tell_crashes((result.key, result.crash) for result in report.pods if result.crash)


def tell_crashes(crashes: Iterable[tuple[str, str]]) -> bool:
    """Show pods that met a bug, with tracebacks; whether there are any."""
    told = False
    for key, crash in crashes:
        print_line(f"podium: a bug met pod {key}:", error=True)
        print_traceback(crash)
        told = True
    if told:
        print_line("podium: please report this with the lines above", error=True)
    return told
