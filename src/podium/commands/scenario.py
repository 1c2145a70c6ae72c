"""`podium scenario`: days of arrivals, failures and scaling on the virtual clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Group, Parameter

from podium.commands.answering import IN_FULL, Answer, answers
from podium.commands.comparison_options import Configs, FailIf
from podium.commands.exit_codes import OK
from podium.commands.options import (
    Config,
    Filename,
    Gates,
    PluginFiles,
    PluginTimeout,
    Strict,
    Validate,
    limit_plugins,
    progress_bar,
    read_scenario,
)
from podium.commands.printing import print_lines
from podium.commands.simulation_options import InputOptions
from podium.golang.errors import InputError, ObjectError

if TYPE_CHECKING:
    from podium.kubernetes.releases.feature_gates import FeatureGates
    from podium.offline.scenarios import ScenarioRun


scenario = App(
    name="scenario",
    help="Run days of arrivals, failures and scaling.",
    group_commands=Group("Commands"),
)
File = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True,
        help="A scenario file, or the name of one that comes with Podium; with run also a trace.",
    ),
]
FirstSeed = Annotated[
    int | None,
    Parameter(
        name=["--seed"],
        metavar="N",
        help="Decides what arrives and fails when, and between nodes with equal totals. Left out: "
        "the scenario's own.",
    ),
]
Until = Annotated[
    str | None, Parameter(name=["--until"], metavar="DURATION", help="End earlier: 12h, 2d.")
]
ScaleFactor = Annotated[
    float,
    Parameter(name=["--scale"], metavar="X", help="So many times the nodes and arrivals."),
]


@scenario.command
@answers("scenario run", IN_FULL)
def run(
    file: File,
    /,
    *,
    filename: Filename = None,
    config: Config = None,
    plugin: PluginFiles = None,
    plugin_timeout: PluginTimeout = "5s",
    feature_gates: Gates = None,
    seed: FirstSeed = None,
    until: Until = None,
    scale: ScaleFactor = 1.0,
    pods: Annotated[
        bool,
        Parameter(
            name=["--pods"],
            negative="",
            show_default=False,
            help="With -o json and yaml: every pod with its times.",
        ),
    ] = False,
    fail_if: Annotated[
        list[str] | None,
        Parameter(
            name=["--fail-if"],
            negative="",
            metavar="CONDITION",
            help="Exit with 1 if this is so: 'wait_p99_s > 60'. May be repeated.",
        ),
    ] = None,
    strict: Strict = False,
    validate: Validate = False,
) -> Answer:
    """Run a scenario under a scheduler configuration.

    Pods arrive as the scenario says, run for their time and leave; nodes fail and are repaired, and
    an autoscaler adds and removes some. Every placement is the scheduler's own. Time is virtual: a
    week takes seconds. Files of `-f` stand in for the scenario's cluster, pools and autoscaler.

    A trace of SimKube, or an `openb` list of pods with times, is run as it is, in the cluster that
    `-f` names.

    **Examples**

    ```
    podium scenario run weekday-web
    podium scenario run week.yaml --config packing.yaml --seed 7 --until 2d
    podium scenario run week.yaml --fail-if 'wait_p99_s > 60' -o json | jq .metrics
    podium scenario run trace.sktrace -f nodes.yaml
    podium scenario run weekday-web --html report.html
    ```

    **Exit code** 0; 1 if a condition of `--fail-if` holds; 2 if the input is wrong, 70 if Podium
    has a bug.
    """
    from podium.commands.feature_gate_flags import read_gates
    from podium.commands.preparation import equip_configuration
    from podium.commands.scenario_view import ScenarioRunView
    from podium.commands.simulate import tell_crashes
    from podium.offline.scenarios.run_answer import ScenarioCondition
    from podium.offline.what_if.conditions import parse_condition
    from podium.scheduler.config.errors import ConfigurationError

    conditions = [parse_condition(text) for text in fail_if or ()]
    until_s = _read_until(until)
    _require_scale(scale)
    gates = read_gates(feature_gates, strict=strict)
    limit_plugins(plugin_timeout)
    options = InputOptions(
        plugin=plugin,
        plugin_timeout=plugin_timeout,
        feature_gates=feature_gates,
        strict=strict,
        validate=validate,
    )
    equipped = equip_configuration(config, options, gates)
    make, length_s = _choose_run(file, filename or (), gates, seed, scale, strict=strict)
    hours = max(1, round(min(length_s, until_s or length_s) / 3600))
    try:
        with progress_bar("simulated hours", hours) as progress:
            ran = make(
                configuration=equipped.configuration,
                registry=equipped.registry,
                gates=gates,
                until_s=until_s,
                keeps_pods=pods,
                validate=validate,
                on_time=lambda at: progress.update(progress.task_ids[0], completed=int(at / 3600)),
            )
    except ConfigurationError as problem:
        raise problem.found_in(config or "") from problem.__cause__
    for condition in conditions:
        condition.require_metric(list(ran.metrics))
    judged = [
        ScenarioCondition(each.text, each.holds(ran.metrics[each.metric])) for each in conditions
    ]
    notes = [*equipped.notes, *ran.report.notes]
    has_crashed = tell_crashes(ran.report.crashes)
    return ScenarioRunView(ran, config or "default", judged, notes, has_crashed)


def _choose_run(
    file: str,
    filenames: Sequence[str],
    gates: FeatureGates,
    seed: int | None,
    scale: float,
    *,
    strict: bool,
) -> tuple[Callable[..., ScenarioRun], float]:
    """What runs a trace or a scenario, and how many seconds it simulates. Raises InputError."""
    from podium.offline.scenarios import find_scenario, run_scenario
    from podium.offline.scenarios.trace_running import find_trace, run_trace

    trace = find_trace(file, filenames, gates=gates)
    if trace is not None:
        if scale != 1.0:
            raise InputError("a trace has the pods that it has", remedy="leave --scale out")
        return partial(run_trace, trace, seed=seed or 0), trace.duration_s
    found = find_scenario(file, gates=gates)
    read = read_scenario(filenames, "strict", gates=gates, strict=strict) if filenames else None
    return partial(run_scenario, found, seed=seed, scale=scale, cluster=read), found.duration_s


@scenario.command
@answers("scenario compare", IN_FULL)
def compare(
    file: File,
    /,
    *,
    config: Configs = None,
    plugin: PluginFiles = None,
    plugin_timeout: PluginTimeout = "5s",
    feature_gates: Gates = None,
    seed: FirstSeed = None,
    seeds: Annotated[
        int,
        Parameter(name=["--seeds"], metavar="N", help="Runs of each, with other arrivals each."),
    ] = 1,
    until: Until = None,
    scale: ScaleFactor = 1.0,
    fail_if: FailIf = None,
    strict: Strict = False,
) -> Answer:
    """Compare scheduler configurations on the same days.

    What arrives and fails is the same for each configuration. With `--seeds` there are several such
    runs of each, and differences are told with the probability that chance alone makes them.

    **Examples**

    ```
    podium scenario compare weekday-web --config default --config packing.yaml
    podium scenario compare week.yaml --config old.yaml --config new.yaml --seeds 10 \\
        --fail-if 'cost.difference > 0'
    podium scenario compare week.yaml --config old.yaml --config new.yaml --html report.html
    ```

    **Exit code** 0; 1 if a condition of `--fail-if` holds; 2 if the input is wrong, 70 if Podium
    has a bug.
    """
    from podium.commands.feature_gate_flags import read_gates
    from podium.commands.preparation import equip_configuration
    from podium.commands.scenario_view import ScenarioComparison
    from podium.commands.simulate import tell_crashes
    from podium.offline.scenarios import find_scenario
    from podium.offline.what_if.comparison import DEFAULT, plan_seeds, require_configs
    from podium.offline.what_if.conditions import parse_condition
    from podium.offline.what_if.scenario_runs import compare_scenario

    configs = config or []
    require_configs(configs)
    conditions = [parse_condition(text) for text in fail_if or ()]
    until_s = _read_until(until)
    _require_scale(scale)
    gates = read_gates(feature_gates, strict=strict)
    found = find_scenario(file, gates=gates)
    planned = plan_seeds(found.seed if seed is None else seed, seeds, 1)
    limit_plugins(plugin_timeout)
    options = InputOptions(
        plugin=plugin,
        plugin_timeout=plugin_timeout,
        feature_gates=feature_gates,
        strict=strict,
    )
    equipped = [
        (name, equip_configuration(None if name == DEFAULT else name, options, gates))
        for name in configs
    ]
    with progress_bar("runs", len(configs) * seeds) as progress:
        answer = compare_scenario(
            found,
            equipped,
            gates,
            planned,
            until_s=until_s,
            scale=scale,
            on_run=lambda: progress.advance(progress.task_ids[0]),
        )
    judgements = answer.judge(conditions)
    length_s = min(found.duration_s, until_s or found.duration_s)
    has_crashed = tell_crashes(answer.crashes)
    return ScenarioComparison(found.name, answer, judgements, length_s, has_crashed)


@scenario.command(name="list")
def list_scenarios(
    *,
    output: Annotated[
        Literal["table", "json", "yaml"], Parameter(name=["--output", "-o"], help="What to print.")
    ] = "table",
) -> int:
    """List the scenarios that come with Podium.

    **Examples**

    ```
    podium scenario list
    podium scenario list -o json | jq -r '.items[].name'
    ```

    **Exit code** 0.
    """
    from podium.commands.documents import print_struct
    from podium.commands.scenario_view import show_scenarios
    from podium.commands.tables import Screen
    from podium.kubernetes.releases.feature_gates import FeatureGates
    from podium.net.files.versioned_documents import DocumentList
    from podium.offline.scenarios import find_scenario, list_ready_scenarios
    from podium.offline.scenarios.run_answer import ScenarioSummary

    names = list_ready_scenarios()
    found = [ScenarioSummary.of(find_scenario(name, gates=FeatureGates())) for name in names]
    if output in ("json", "yaml"):
        print_struct(DocumentList(ScenarioSummary, found), output)
    else:
        show_scenarios(found, Screen())
    return OK


@scenario.command
def show(
    name: Annotated[str, Parameter(help="The name of a scenario that comes with Podium.")], /
) -> int:
    """Print a scenario that comes with Podium, to read or to begin from.

    **Examples**

    ```
    podium scenario show weekday-web > week.yaml
    ```

    **Exit code** 0; 2 if there is none of that name.
    """
    from podium.offline.scenarios.scenario_file import read_ready_scenario

    print_lines(read_ready_scenario(name).splitlines())
    return OK


def _require_scale(scale: float) -> None:
    if not 0 < scale <= 1000:
        raise InputError("--scale must be above 0 and at most 1000")


def _read_until(text: str | None) -> float | None:
    from podium.offline.scenarios.run_times import parse_positive_duration

    if text is None:
        return None
    try:
        return parse_positive_duration(text, "--until")
    except ObjectError as problem:
        raise InputError(problem.problem, source="--until", remedy=problem.remedy) from None
