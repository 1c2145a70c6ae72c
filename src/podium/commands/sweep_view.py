"""A sweep for people and for programs: a table of means and percentiles for each input."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from podium.commands.compare_view import format_metric
from podium.commands.input_warnings import input_warnings_document, show_input_warnings
from podium.commands.tables import Screen, count
from podium.offline.what_if.matrix_summary import PERCENTILES, MatrixCell, summarise_cells
from podium.offline.what_if.measured_runs import InputReview, MeasuredRun
from podium.offline.what_if.metric_words import describe_metric
from podium.offline.what_if.run_matrix import NamedInput, RunMatrix
from podium.offline.what_if.scenario_runs import NamedScenario


@dataclass(frozen=True, slots=True)
class SweepAnswer:
    """`keys` are those of the runs; `reviews` are by the number of the input."""

    matrix: RunMatrix
    keys: tuple[str, ...]
    runs: tuple[MeasuredRun, ...]
    reviews: Mapping[int, InputReview]


def show_sweep(answer: SweepAnswer, screen: Screen) -> None:
    matrix = answer.matrix
    cells = summarise_cells(answer.runs)
    for number, given in enumerate(matrix.inputs):
        review = answer.reviews.get(number, InputReview())
        show_input_warnings(review, screen)
        screen.heading(given.name, count(len(matrix.seeds), "seed"))
        _show_cells([cell for cell in cells if cell.input == number], matrix, screen)
        screen.notes(list(review.notes))


def _show_cells(cells: list[MatrixCell], matrix: RunMatrix, screen: Screen) -> None:
    headings = ["MEAN", *(f"P{percent}" for percent in PERCENTILES)]
    table = screen.table(
        "METRIC", "CONFIGURATION", *headings, right=headings, whole=["METRIC", *headings]
    )
    for at, spread in enumerate(cells[0].spreads):
        for cell in cells:
            found = cell.spreads[at]
            values = (found.mean, *found.percentiles)
            table.add_row(
                describe_metric(spread.metric) if cell is cells[0] else "",
                matrix.configurations[cell.configuration].name,
                *(format_metric(spread.metric, value) for value in values),
            )
    screen.print(table)


def _typical_pod(given: NamedInput | NamedScenario) -> dict[str, int] | None:
    """Scenarios have none."""
    if isinstance(given, NamedScenario):
        return None
    pod = given.yardstick.typical_pod
    return {"cpu": pod.cpu_milli, "memory": pod.memory_bytes}


def sweep_document(answer: SweepAnswer) -> dict[str, Any]:
    matrix = answer.matrix
    inputs = [each.name for each in matrix.inputs]
    configurations = [each.name for each in matrix.configurations]
    return {
        "seeds": list(matrix.seeds),
        "inputs": [
            {
                "name": given.name,
                "typicalPod": _typical_pod(given),
                **input_warnings_document(review),
                "notes": list(review.notes),
            }
            for number, given in enumerate(matrix.inputs)
            for review in [answer.reviews.get(number, InputReview())]
        ],
        "cells": [
            {
                "input": inputs[cell.input],
                "configuration": configurations[cell.configuration],
                "metrics": [
                    {
                        "name": spread.metric,
                        "mean": spread.mean,
                        "lowest": spread.lowest,
                        **{
                            f"p{percent}": value
                            for percent, value in zip(PERCENTILES, spread.percentiles, strict=True)
                        },
                        "highest": spread.highest,
                    }
                    for spread in cell.spreads
                ],
            }
            for cell in summarise_cells(answer.runs)
        ],
        "runs": [
            {
                "key": key,
                "input": inputs[run.input],
                "configuration": configurations[run.configuration],
                "seed": run.seed,
                "metrics": dict(run.metrics),
            }
            for key, run in zip(answer.keys, answer.runs, strict=True)
        ],
    }
