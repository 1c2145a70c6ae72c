"""`podium replay`: what would have happened under another configuration?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from podium.commands.answering import Answer, answers
from podium.commands.options import (
    Gates,
    PluginFiles,
    PluginTimeout,
    Seed,
    Strict,
    Validate,
    limit_plugins,
    progress_bar,
)
from podium.commands.simulation_options import SimulationOptions
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.offline.traces.recorded_cluster import RecordedCluster
    from podium.offline.traces.replay import ReplayRules


DEFAULT: Final = "default"


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """By which rules it is decided."""

    plugin: PluginFiles = None
    plugin_timeout: PluginTimeout = "5s"
    feature_gates: Gates = None
    seed: Seed = 0
    strict: Strict = False
    validate: Validate = False


_USUAL: Final = ReplayOptions()


@answers("replay")
def replay(
    trace: Annotated[str, Parameter(help="What `podium record` has written.")],
    *,
    config: Annotated[
        str | None,
        Parameter(
            name=["--config"],
            metavar="FILE",
            help="A KubeSchedulerConfiguration to decide by, or default for kube-scheduler's "
            "defaults. Left out: as --as-recorded.",
        ),
    ] = None,
    as_recorded: Annotated[
        bool,
        Parameter(
            name=["--as-recorded"],
            negative="",
            show_default=False,
            help="Follow the recording, and check each of its decisions against the configuration.",
        ),
    ] = False,
    from_: Annotated[
        str,
        Parameter(
            name=["--from"], metavar="DURATION", help="Begin so long after the recording began."
        ),
    ] = "0s",
    until: Annotated[
        str | None,
        Parameter(
            name=["--until"],
            metavar="DURATION",
            help="End so long after the recording began. Left out: at its end.",
        ),
    ] = None,
    options: ReplayOptions = _USUAL,
) -> Answer:
    """Decide a recorded cluster anew, in virtual time.

    With `--config`, pods, nodes and other objects come, change and go when they did, and Podium
    decides where pods go, under that configuration. A pod that ran for ten minutes runs for ten
    minutes after its binding here. What is shown is what was placed, how long pods waited, how full
    nodes were, and which pods went elsewhere.

    Without `--config`, or with `--as-recorded`, every pod goes where it went, and each decision is
    checked: is the recorded node among the best? Nodes with equal totals are equally right.

    The same trace, configuration and seed give the same answer to the byte.

    **Examples**

    ```
    podium record --to night.podium --for 12h
    podium replay night.podium
    podium replay night.podium --config packing.yaml
    podium replay night.podium --config default --from 6h --until 8h -o json
    podium replay night.podium --config old.yaml --as-recorded
    podium replay night.podium --config packing.yaml --html report.html
    ```

    **Exit code** 0; 1 if pods that had a node when it was recorded have none here, or if a recorded
    decision differs; 2 if the input is wrong, 70 if Podium has a bug.
    """
    from podium.commands.feature_gate_flags import read_gates
    from podium.commands.preparation import equip_configuration
    from podium.offline.traces.recorded_cluster import read_recorded_cluster
    from podium.offline.traces.replay import ReplayRules
    from podium.scheduler.config.errors import ConfigurationError

    gates = read_gates(options.feature_gates, strict=options.strict)
    limit_plugins(options.plugin_timeout)
    equipped = equip_configuration(
        None if config == DEFAULT else config,
        SimulationOptions(plugin=options.plugin, strict=options.strict),
        gates,
    )
    from_s = _parse_offset("--from", from_)
    until_s = None if until is None else _parse_offset("--until", until)
    if until_s is not None and until_s <= from_s:
        raise InputError(f"--until {until} is not after --from {from_}")
    cluster = read_recorded_cluster(trace, from_s=from_s, until_s=until_s)
    rules = ReplayRules(equipped, gates, options.seed, options.validate)
    try:
        if as_recorded or config is None:
            return _check(cluster, rules)
        return _replay(cluster, rules, config)
    except ConfigurationError as problem:
        raise problem.found_in(config or "") from problem.__cause__


def _check(cluster: RecordedCluster, rules: ReplayRules) -> Answer:
    from podium.commands.replay_view import ReplayCheckView
    from podium.offline.traces.decision_check import check_decisions

    with progress_bar("decisions", len(cluster.pods)) as progress:
        check = check_decisions(
            cluster, rules, on_decision=lambda: progress.advance(progress.task_ids[0])
        )
    return ReplayCheckView(check)


def _replay(cluster: RecordedCluster, rules: ReplayRules, config: str) -> Answer:
    from podium.commands.replay_view import ReplayView
    from podium.offline.traces.replay import replay as run_replay

    with progress_bar("seconds", round(cluster.duration_s)) as progress:
        report = run_replay(
            cluster,
            rules,
            on_time=lambda at_s: progress.update(progress.task_ids[0], completed=round(at_s)),
        )
    return ReplayView(report, config)


def _parse_offset(option: str, text: str) -> float:
    from podium.golang.durations import Duration, DurationError

    try:
        duration = Duration.parse(text)
    except DurationError as problem:
        raise InputError(f"{option}: {problem}", remedy="30m, 2h, 1h30m") from None
    if duration.nanoseconds < 0:
        raise InputError(f"{option} {text} must not be negative")
    return duration.seconds
