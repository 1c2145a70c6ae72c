"""Results of measurements as tables that fit eighty columns."""

import os
import re
from collections.abc import Sequence

from rich import box
from rich.table import Table

from podium.bench.cases import ALIASES, CASES
from podium.bench.function_times import FunctionTime
from podium.bench.results import FASTER, SLOWER, Result, ResultComparison
from podium.commands.console import stack_lines
from podium.commands.tables import Screen

NAME_WIDTH = 26
MAX_FUNCTIONS = 25
_STYLES = {FASTER: "green", SLOWER: "red"}


class BenchView:
    def __init__(self) -> None:
        self._screen = Screen()

    def show(self, results: Sequence[Result], percentage: int) -> None:
        """The figures of all workloads, with what has to be known to judge them."""
        sizes = sorted({result.best.nodes for result in results})
        scored = "every node scored" if percentage == 100 else f"{percentage} % of nodes scored"
        runs = max(len(result.runs) for result in results)
        several = "1 run" if runs == 1 else f"the best of {runs} runs"
        nodes = " and ".join(f"{size:,}" for size in sizes)
        self._screen.print_heading("Pods per second", f"{nodes} nodes, {scored}, {several}")
        table = _table(
            "workload", "pods", "pods/s", "slow-\nest", "spread", "by CPU\ntime", "p50\nms",
            "p99\nms", "RSS\nMB",
        )  # fmt: skip
        for result in results:
            best = result.best
            table.add_row(
                stack_lines(break_name(result.workload, NAME_WIDTH)),
                f"{best.pods:,}",
                f"{best.pods_per_s:,.0f}",
                f"{result.slowest:,.0f}",
                f"{100 * result.spread:.0f} %",
                f"{result.best_by_cpu:,.0f}",
                short(best.p50_ms),
                short(best.p99_ms),
                f"{best.peak_rss_mb:.0f}",
            )
        self._screen.print(table)
        self._remarks(results)

    def _remarks(self, results: Sequence[Result]) -> None:
        loads = [run.load for result in results for run in result.runs]
        self._screen.print(
            f"{os.cpu_count()} processors, one-minute load from {min(loads)} to {max(loads)};"
            " `by CPU time` is pods per CPU second",
            style="dim",
        )
        for result in results:
            best = result.best
            if best.failed:
                text = f"{result.workload}: {best.failed:,} of {best.pods:,} pods were not bound"
                self._screen.print(text, style="yellow")

    def compare(self, comparisons: Sequence[ResultComparison]) -> None:
        """Ratios to an earlier run."""
        self._screen.print_heading("Compared", "pods per second, now for each one before")
        table = _table("workload", "before", "now", "ratio", "by CPU\ntime", "verdict")
        for compared in comparisons:
            table.add_row(
                stack_lines(break_name(compared.name, NAME_WIDTH)),
                f"{compared.before.pods_per_s:,.0f}",
                f"{compared.now.pods_per_s:,.0f}",
                f"{compared.ratio:.2f}",
                f"{compared.cpu_ratio:.2f}" if compared.cpu_ratio else "",
                compared.verdict,
                style=_STYLES.get(compared.verdict),
            )
        if not comparisons:
            self._screen.print("the earlier run has none of these workloads")
            return
        self._screen.print(table)

    def functions(self, name: str, functions: Sequence[FunctionTime]) -> None:
        """Functions by their own time. Counting calls slows the run, small functions most."""
        self._screen.print_heading(
            f"Functions of {name}", "by own time, in a run that counts calls"
        )
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
        for heading in ("share", "own s", "total s", "calls"):
            table.add_column(heading, justify="right", no_wrap=True)
        table.add_column("function", overflow="fold")
        for function in functions[:MAX_FUNCTIONS]:
            table.add_row(
                f"{100 * function.share:.1f} %",
                f"{function.own_s:.3f}",
                f"{function.total_s:.3f}",
                f"{function.calls:,}",
                f"{function.name} {function.place}",
            )
        self._screen.print(table)

    def list_cases(self, nodes: int) -> None:
        self._screen.print_heading("Workloads", f"with {nodes:,} nodes")
        known = {full: alias for alias, full in ALIASES.items()}
        table = _table("workload", "before", "measured", "also called")
        table.columns[0].min_width = table.columns[0].max_width = None
        for case in CASES.values():
            plan = case.plan(nodes)
            alias = known.get(case.name, "")
            table.add_row(case.name, f"{plan.init:,}", f"{plan.pods:,}", alias)
        self._screen.print(table)


def _table(first: str, *others: str) -> Table:
    """A narrow table: a column of names, then columns of numbers; headings may have newlines."""
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim", padding=0
    )
    table.add_column(first, no_wrap=True, min_width=NAME_WIDTH, vertical="top")
    for heading in others:
        title = stack_lines(heading.split("\n"))
        table.add_column(title, justify="right", no_wrap=True, min_width=5)
    return table


def break_name(name: str, width: int) -> list[str]:
    """A long name in several lines, broken before capital letters."""
    lines = [""]
    for part in re.findall(r"[A-Z]*[^A-Z]+|[A-Z]+$", name) or [name]:
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("  ")
        lines[-1] += part
    return lines


def short(number: float) -> str:
    """A number with about three digits: `0.212`, `4.47`, `163`."""
    if number >= 100:
        return f"{number:.0f}"
    return f"{number:.2f}" if number >= 1 else f"{number:.3f}"
