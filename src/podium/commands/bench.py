"""`podium bench`: how fast the engine decides on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Group, Parameter

from podium.commands.bench_apiserver import apiserver
from podium.commands.bench_extender import extender
from podium.commands.bench_live import live
from podium.commands.bench_scaling import scaling
from podium.commands.bench_start import start
from podium.commands.exit_codes import OK
from podium.commands.printing import write_output
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.bench.child import Order
    from podium.bench.function_times import FunctionTime
    from podium.bench.results import Figures, Recorded, Result
    from podium.commands.bench_progress import RunsProgress


bench = App(name="bench", group_commands=Group("Commands"))
bench.command(scaling)
bench.command(extender)
bench.command(apiserver)
bench.command(live)
bench.command(start)

ALL = "all"
SizeName = Literal["500Nodes", "5000Nodes", "15000Nodes", "100000Nodes"]


def engine(
    *,
    file: Annotated[
        Path | None,
        Parameter(
            allow_leading_hyphen=True,
            help="A workload: JSON with nodes, init (bound pods) and pods (pending); - reads"
            " standard input.",
        ),
    ] = None,
    workload: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            help="Named workloads to run, or `all`; `--list` names them. By default"
            " basic, spread, affinity, anti-affinity and mixed.",
        ),
    ] = None,
    size: Annotated[SizeName, Parameter(help="How large a named workload is.")] = "5000Nodes",
    nodes: Annotated[int | None, Parameter(help="Nodes, in place of --size.")] = None,
    init: Annotated[int | None, Parameter(help="Pods that are there before.")] = None,
    pods: Annotated[int | None, Parameter(help="Pods that are measured.")] = None,
    percentage: Annotated[
        int, Parameter(help="percentageOfNodesToScore; 100 scores every node.")
    ] = 100,
    repeat: Annotated[int, Parameter(help="Runs of each workload.")] = 3,
    config: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="Measure a scheduler configuration beside the default one, in turns.",
        ),
    ] = None,
    json: Annotated[bool, Parameter(negative="", help="Print JSON instead of a table.")] = False,
    compare_with: Annotated[
        Path | None,
        Parameter(name="--compare", help="What --json printed before, to show ratios to."),
    ] = None,
    plot: Annotated[
        Path | None, Parameter(help="Draw pods per second with their spread into an SVG file.")
    ] = None,
    profile: Annotated[
        bool, Parameter(negative="", help="Run once more and tell which functions take the time.")
    ] = False,
    flame_graph: Annotated[
        Path | None,
        Parameter(help="Run once more and draw where the time goes into an SVG file."),
    ] = None,
    list_: Annotated[
        bool, Parameter(name="--list", negative="", help="Name the workloads and stop.")
    ] = False,
) -> int:
    """Schedule pods in-process and print pods per second.

    The workloads are those of the reference scheduler's performance suite and some of Podium's
    own. Each run has a process to itself; loading is not counted. The table shows the fastest run
    and how far the slowest stayed behind it: machines are noisy, so compare ratios of one run
    rather than figures of two, and look at pods per CPU second where other programs run too.

    Examples:

        podium bench --workload SchedulingBasic --size 5000Nodes
        podium bench --workload all --json > before.json
        podium bench --workload all --compare before.json --plot now.svg
        podium bench --workload spread --profile --flame-graph spread.svg
        podium bench --workload basic --config examples/coscheduling/scheduler.yaml
        podium bench engine --file workload.json --json
    """
    from podium.bench.cases import SIZES
    from podium.bench.plot import draw_plot
    from podium.bench.results import by_name, compare, read_results, record_result
    from podium.commands.bench_progress import runs_progress
    from podium.commands.bench_view import BenchView

    view = BenchView()
    if list_:
        view.list_cases(SIZES[size] if nodes is None else nodes)
        return OK
    _check(percentage, repeat, nodes, init, pods)
    before = read_results(_read(compare_with), str(compare_with)) if compare_with else []
    functions: dict[str, tuple[FunctionTime, ...]] = {}
    if file is not None:
        if profile or flame_graph or config:
            raise InputError("--profile, --flame-graph and --config need a named workload")
        results = [_run_file(file, percentage, repeat)]
    else:
        orders = _orders(workload, SIZES[size] if nodes is None else nodes, init, pods, percentage)
        if config is not None:
            orders = _beside_default(orders, config)
        with runs_progress(len(orders) * repeat) as progress:
            if config is None:
                results = [_run(name, order, repeat, progress) for name, order in orders.items()]
            else:
                results = _run_in_turns(orders, repeat, progress)
        if profile:
            functions = {name: _functions(order) for name, order in orders.items()}
        if flame_graph is not None:
            _draw_flames(orders, flame_graph)
    now = [record_result(result) for result in results]
    if plot is not None:
        write_output(plot, draw_plot(now, _title(results, percentage), by_name(before)))
    if json:
        _print_json(results, before, functions, single=file is not None)
    else:
        view.show(results, percentage)
        if before:
            view.compare(compare(before, now))
        for name, found in functions.items():
            view.functions(name, found)
    return OK


bench.command(engine)
bench.default(engine)


# asking


def _check(percentage: int, repeat: int, *counts: int | None) -> None:
    if percentage < 0 or percentage > 100:
        raise InputError("--percentage must lie between 0 and 100")
    nodes, init, pods = counts
    if repeat < 1 or (nodes is not None and nodes < 1) or (pods is not None and pods < 1):
        raise InputError("--nodes, --pods and --repeat must be at least 1")
    if init is not None and init < 0:
        raise InputError("--init must not be negative")


def _orders(
    names: Sequence[str] | None, nodes: int, init: int | None, pods: int | None, percentage: int
) -> dict[str, Order]:
    """What to measure, by the names it was asked for."""
    from podium.bench.cases import ALIASES, CASES, full_name
    from podium.bench.child import Order

    chosen = list(names or ALIASES)
    if ALL in chosen:
        chosen = list(CASES)
    orders = {}
    for name in chosen:
        case = CASES.get(full_name(name))
        if case is None:
            raise InputError(f"there is no workload {name!r}", remedy=_suggestion(name))
        plan = case.plan(nodes, init=init, pods=pods)
        orders[name] = Order(case=case.name, plan=plan, percentage=percentage)
    return orders


def _beside_default(orders: dict[str, Order], config: Path) -> dict[str, Order]:
    """Each workload with the default configuration and with a file's. Raises InputError."""
    import msgspec

    from podium.kubernetes.releases.feature_gates import FeatureGates
    from podium.scheduler.config.load import load_file

    text = _read(config).decode("utf-8", "replace")
    load_file(text.encode(), source=str(config), gates=FeatureGates())
    beside: dict[str, Order] = {}
    for name, order in orders.items():
        beside[name] = order
        beside[f"{name}, {config.name}"] = msgspec.structs.replace(order, configuration=text)
    return beside


def _suggestion(name: str) -> str:
    from podium.bench.cases import ALIASES, CASES

    known = {known.lower(): known for known in (*CASES, *ALIASES, ALL)}
    close = get_close_matches(name.lower(), known, n=3)
    if close:
        return "do you mean " + " or ".join(known[match] for match in close) + "?"
    return "`podium bench --list` names them all"


def _read(path: Path) -> bytes:
    from podium.net.files.bounded_files import MAX_CLUSTER_BYTES, read_input

    return read_input(str(path), MAX_CLUSTER_BYTES)


# measuring


def _run(name: str, order: Order, repeat: int, progress: RunsProgress, *, first: int = 0) -> Result:
    from podium.bench.child import measure_apart
    from podium.bench.results import Result

    runs: list[Figures] = []
    for number in range(first, first + repeat):
        report = measure_apart(order, lambda done: progress.at(order.plan.pods, done))
        if report.figures is not None:
            runs.append(report.figures)
        progress.end_run(f"{name}, run {number + 1}", runs[-1])
    return Result(workload=name, case=order.case, runs=tuple(runs))


def _run_in_turns(orders: dict[str, Order], repeat: int, progress: RunsProgress) -> list[Result]:
    """Runs that are to be compared, one after the other, so that all meet the same noise."""
    from podium.bench.results import Result

    found: dict[str, list[Result]] = {name: [] for name in orders}
    for number in range(repeat):
        for name, order in orders.items():
            found[name].append(_run(name, order, 1, progress, first=number))
    return [
        Result(
            workload=name, case=orders[name].case, runs=tuple(r for one in runs for r in one.runs)
        )
        for name, runs in found.items()
    ]


def _run_file(file: Path, percentage: int, repeat: int) -> Result:
    from podium.bench.engine_run import measure_file, read_workload
    from podium.bench.results import Result
    from podium.commands.bench_progress import file_progress

    workload = read_workload(_read(file), str(file))
    runs: list[Figures] = []
    with file_progress(file.name, len(workload.pods) * repeat) as advance:
        for number in range(repeat):
            before = number * len(workload.pods)

            def progress(done: int, before: int = before) -> None:
                advance(before + done)

            runs.append(measure_file(workload, percentage=percentage, progress=progress))
    return Result(workload=file.name, case=file.name, runs=tuple(runs))


def _functions(order: Order) -> tuple[FunctionTime, ...]:
    from podium.bench.child import measure_apart

    return measure_apart(_add_profiler(order, "functions")).functions


def _draw_flames(orders: dict[str, Order], target: Path) -> None:
    from podium.bench.child import measure_apart
    from podium.bench.function_times import draw_flame_graph

    for name, order in orders.items():
        stacks = measure_apart(_add_profiler(order, "stacks")).stacks
        path = target if len(orders) == 1 else target.with_stem(f"{target.stem}-{name}")
        write_output(path, draw_flame_graph(stacks, f"{order.case}, {order.plan.nodes:,} nodes"))


def _add_profiler(order: Order, look: Literal["functions", "stacks"]) -> Order:
    import msgspec

    return msgspec.structs.replace(order, look=look)


# telling


def _title(results: Sequence[Result], percentage: int) -> str:
    sizes = sorted({result.best.nodes for result in results})
    scored = "every node scored" if percentage == 100 else f"{percentage} % of nodes scored"
    return f"Podium on {' and '.join(f'{size:,}' for size in sizes)} nodes, {scored}"


def _print_json(
    results: Sequence[Result],
    before: Sequence[Recorded],
    functions: dict[str, tuple[FunctionTime, ...]],
    *,
    single: bool,
) -> None:
    from podium.bench.results import EngineBenchmark, compare, record_result
    from podium.commands.documents import print_struct
    from podium.net.files.versioned_documents import DocumentList

    ratios = {c.name: c for c in compare(before, [record_result(result) for result in results])}
    documents = [
        EngineBenchmark.of(result, ratios.get(result.case), functions.get(result.workload))
        for result in results
    ]
    print_struct(documents[0] if single else DocumentList(EngineBenchmark, documents), "json")
