"""`podium record`: what happens in a cluster, into a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from podium.commands.cluster_options import ClusterOptions
from podium.commands.exit_codes import BAD_INPUT, CANNOT_WRITE, OK
from podium.commands.printing import print_line, print_lines
from podium.golang.errors import InputError, closest, did_you_mean

if TYPE_CHECKING:
    from podium.client import ResourceType
    from podium.commands.processes.run_recorder import RecordingEnd, RecordingPlan, RightsMissing
    from podium.offline.traces.recorder import RecordingProgress, RecordingRights
    from podium.scheduler.explain.proposals.shell import Kubectl


_UNITS: Final = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def record(
    *,
    kubeconfig: Annotated[
        str | None,
        Parameter(
            name=["--kubeconfig"],
            metavar="FILE",
            help="Record the cluster of this kubeconfig, and only read it. Left out: that of "
            "$KUBECONFIG, of ~/.kube/config, or the one that the command runs in.",
        ),
    ] = None,
    context: Annotated[
        str | None,
        Parameter(
            name=["--context"], metavar="NAME", help="Another context than the kubeconfig's own."
        ),
    ] = None,
    to: Annotated[
        Path,
        Parameter(
            name=["--to"], metavar="FILE", help="The trace. Only you can read it (mode 0600)."
        ),
    ],
    for_: Annotated[
        str | None,
        Parameter(
            name=["--for"],
            metavar="DURATION",
            help="How long: 30m, 12h. Left out: until Ctrl-C or SIGTERM.",
        ),
    ] = None,
    max_size: Annotated[
        str,
        Parameter(
            name=["--max-size"],
            metavar="SIZE",
            help="The recording ends when the file would become larger.",
        ),
    ] = "1Gi",
    kinds: Annotated[
        str,
        Parameter(
            name=["--kinds"],
            metavar="A,B",
            show_default=False,
            help="Only these, by their plural names, with nodes and pods. Left out: all that "
            "scheduling reads.",
        ),
    ] = "",
    force: Annotated[
        bool,
        Parameter(
            name=["--force"], negative="", show_default=False, help="Replace a file that is there."
        ),
    ] = False,
) -> int:
    """Record what happens in a cluster, for `podium replay`.

    Everything that scheduling reads is listed, then watched, and written into a compressed trace:
    pods as they arrive, are bound, finish and are deleted, nodes as they come, change and go, and
    the objects around them. Nothing is ever written to the cluster; the rights that are needed are
    list and watch (`deploy/recorder` has the role).

    Of objects only the fields that scheduling reads are written. Secrets and ConfigMaps are never
    asked for, and commands, arguments, environments, messages and annotations that no scheduler
    reads are never written.

    A recording goes on through broken connections and restarts of the API server; what was not seen
    meanwhile is noted in the trace. Ctrl-C and SIGTERM end it properly.

    **Examples**

    ```
    podium record --to night.podium --for 12h
    podium record --kubeconfig prod.yaml --context prod --to prod.podium --max-size 200Mi
    podium replay night.podium --config packing.yaml
    ```

    **Exit code** 0 when the recording has ended, 2 if the input is wrong or rights are missing, 74
    if the file cannot be written any more.
    """
    from podium.commands.processes.event_loop import run
    from podium.commands.processes.run_recorder import RecordingPlan, RightsMissing, run_recorder
    from podium.offline.simulate.live_cluster import refusals_told
    from podium.offline.traces.trace_files import TraceUnwritable

    cluster = ClusterOptions(kubeconfig, context)
    found = cluster.find()
    plan = RecordingPlan(
        found.settings,
        _choose_resources(kinds),
        to,
        _parse_size(max_size),
        _parse_duration(for_),
        force,
    )
    ended: list[RecordingEnd] = []

    async def run_recording() -> None:
        ended.append(
            await run_recorder(
                plan,
                on_rights=lambda rights: _tell_start(plan, rights, found.settings.cluster.server),
                on_progress=on_progress,
            )
        )

    try:
        with (
            _progress_line() as on_progress,
            _quiet_client(),
            refusals_told(found.settings.cluster),
        ):
            run(run_recording())
    except RightsMissing as problem:
        _tell_rights(problem, plan.resources, cluster.kubectl)
        return BAD_INPUT
    except TraceUnwritable as problem:
        print_line(f"podium: {to}: cannot be written any more: {problem}", error=True)
        print_line("podium: what was written before can be replayed", error=True)
        return CANNOT_WRITE
    _tell_end(ended[0], plan)
    return OK


# --- options ----------------------------------------------------------------------------------


def _choose_resources(kinds: str) -> list[ResourceType]:
    from podium.offline.simulate.read_kinds import REQUIRED
    from podium.offline.traces.object_recording import RECORDED_STRUCTS, resource_name

    known = {resource_name(each): each for each in RECORDED_STRUCTS}
    if not kinds:
        return list(known.values())
    chosen = list(REQUIRED)
    for name in filter(None, (part.strip() for part in kinds.split(","))):
        matching = [each for full, each in known.items() if name in (full, each.plural)]
        if not matching:
            guess = did_you_mean(closest(name, list(known)))
            raise InputError(f"--kinds: {name} is not recorded", remedy=guess or ", ".join(known))
        chosen += matching
    return list(dict.fromkeys(chosen))


def _parse_duration(text: str | None) -> float | None:
    from podium.golang.durations import Duration, DurationError

    if text is None:
        return None
    try:
        duration = Duration.parse(text)
    except DurationError as problem:
        raise InputError(f"--for: {problem}", remedy="30m, 12h, 1h30m") from None
    if duration.nanoseconds <= 0:
        raise InputError(f"--for {text} must be more than nothing")
    return duration.seconds


def _parse_size(text: str) -> int:
    from podium.kubernetes.rules.quantity import QuantityError, value
    from podium.offline.traces.trace_files import MIN_SIZE_BYTES

    try:
        size = value(text)
    except QuantityError as problem:
        raise InputError(f"--max-size: {problem}", remedy="500Mi, 1Gi, 2G") from None
    if size < MIN_SIZE_BYTES:
        raise InputError(f"--max-size {text} is less than {MIN_SIZE_BYTES} bytes")
    return size


# --- telling ----------------------------------------------------------------------------------


@contextmanager
def _quiet_client() -> Iterator[None]:
    """Reflectors tell of every try; a recording tells once that something is away."""
    import logging

    log = logging.getLogger("podium.client")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


@contextmanager
def _progress_line() -> Iterator[Callable[[RecordingProgress], None]]:
    """A line on terminals that changes in place; elsewhere only what is away, when that changes."""
    from podium.commands.console import Console, Text

    console = Console(stderr=True)
    told: list[dict[str, str]] = [{}]

    def tell_away(progress: RecordingProgress) -> None:
        if progress.away.keys() == told[0].keys():
            return
        for line in _away_lines(told[0], progress.away):
            print_line(f"podium: {line}", error=True)
        told[0] = dict(progress.away)

    if not console.is_terminal:
        yield tell_away
        return
    with console.status("recording") as status:

        def show(progress: RecordingProgress) -> None:
            tell_away(progress)
            status.update(Text(_progress_text(progress)))

        yield show


def _away_lines(before: dict[str, str], away: dict[str, str]) -> Iterator[str]:
    """Of resources that went away together only the first is named with its reason."""
    gone = [name for name in away if name not in before]
    if gone:
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        yield f"cannot follow {gone[0]}{more} right now, and tries again: {away[gone[0]]}"
    if before and not away:
        yield "follows everything again"


def _progress_text(progress: RecordingProgress) -> str:
    from podium.commands.tables import count

    if not progress.is_following:
        return f"reading what is there: {count(progress.objects, 'object')}"
    return (
        f"recording for {_tell_time(progress.seconds)}: {count(progress.objects, 'object')}, "
        f"{count(progress.lines, 'line')}, {_tell_size(progress.size)}"
    )


def _tell_start(plan: RecordingPlan, rights: RecordingRights, server: str) -> None:
    from podium.offline.traces.object_recording import resource_name

    until = "until Ctrl-C" if plan.for_s is None else f"for {_tell_time(plan.for_s)}"
    print_line(f"podium: records {server} into {plan.target} {until}", error=True)
    if rights.forbidden:
        names = ", ".join(map(resource_name, rights.forbidden))
        print_line(f"podium: warning: not recorded, since forbidden: {names}", error=True)
        print_line("podium: decisions that depend on them will differ in a replay", error=True)


def _tell_rights(problem: RightsMissing, wanted: Sequence[ResourceType], kubectl: Kubectl) -> None:
    from podium.offline.traces.recorder import ROLE, cluster_role

    print_line(f"podium: cannot record: {problem}", error=True)
    print_line("podium: this grants what is needed, once bound to whoever records:", error=True)
    print_line(f"{kubectl.run('apply', options=('-f', '-'))} <<'EOF'", error=True)
    print_lines(cluster_role(wanted).splitlines(), error=True)
    print_line("EOF", error=True)
    grant = ("clusterrolebinding", ROLE, f"--clusterrole={ROLE}", "--user=...")
    print_line(kubectl.run("create", *grant[:2], options=grant[2:]), error=True)


def _tell_end(end: RecordingEnd, plan: RecordingPlan) -> None:
    from podium.commands.tables import count

    if end.reason == "size":
        print_line("podium: the recording ended, as the file may not become larger", error=True)
    written = f"{count(end.lines, 'line')}, {_tell_size(end.size)}"
    print_line(
        f"podium: recorded {_tell_time(end.seconds)} into {plan.target}: {written}", error=True
    )
    if not end.is_complete:
        print_line(
            "podium: warning: it ended before all that was there had been read, and cannot be "
            "replayed",
            error=True,
        )


def _tell_time(seconds: float) -> str:
    from podium.golang.durations import Duration

    return str(Duration.of_seconds(round(seconds)))


def _tell_size(size: int) -> str:
    for name, unit in _UNITS:
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} B"
