"""Promises about the answers themselves: the same each time, of the right kind, part by part.

Each check yields (promise, what was found instead).
"""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import Rows, indices
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.diagnosis import check_verdict
from podium.scheduler.framework.points import FilterPlugin, Plugin, ScorePlugin
from podium.testing.answers import Asked, ask, statuses_of
from podium.testing.fake_cluster import FakeCluster

Case = tuple[str, str]

SAME_ANSWER = "the same question has the same answer"
PART_OF_WHOLE = "an answer for some rows is that part of the answer for all"
ROW_FORM = "the one-row form says what the vector form says"
OWN_ARRAY = "answers are arrays of their own"
KIND = "answers are one whole number a row"
RANGE = "normalised scores are within 0..100"
BY_RANGE = (
    "normalizes_by_range: a normalised score follows from the raw one, the lowest and highest"
)
NO_CHANGES = "nothing is changed by asking"


def check_vectors(
    cluster: FakeCluster, twin: FakeCluster, name: str, pods: Sequence[Pod]
) -> Iterator[Case]:
    """`twin` is another cluster of the same making, with a plugin of its own."""
    plugin, table = cluster.plugin(name), cluster.engine.cluster
    first = []
    for pod in pods:
        before = _snapshot(pod, table)
        asked = ask(plugin, pod, table)
        first.append(asked)
        yield from _check_kind(asked, table)
        yield from _check_parts(plugin, asked)
        yield from _check_rows(plugin, asked)
        yield from _check_normalized(plugin, asked)
        if _snapshot(pod, table) != before:
            yield NO_CHANGES, f"pod {pod.metadata.name}, a node or a column was changed"
    for pod, asked in zip(pods, first, strict=True):
        again = ask(plugin, pod, table)
        yield from _compare(asked, again, pod, "asked again after other pods")
    for pod, asked in zip(reversed(pods), reversed(first), strict=True):
        other = ask(twin.plugin(name), pod, twin.engine.cluster)
        yield from _compare(asked, other, pod, "asked in another order by another instance")


def _compare(one: Asked, other: Asked, pod: Pod, how: str) -> Iterator[Case]:
    answers = other.answers
    for point, answer in one.answers.items():
        if answer != answers[point]:
            name = pod.metadata.name
            yield SAME_ANSWER, f"{point} of {name} was {answer}, and {how} {answers[point]}"


def _check_kind(asked: Asked, table: Cluster) -> Iterator[Case]:
    if asked.verdict is not None and asked.filter_rows is not None:
        yield from _check_array("filter", asked.verdict.values, asked.filter_rows, table)
    if asked.raw is not None and asked.score_rows is not None:
        yield from _check_array("score", asked.raw, asked.score_rows, table)
    if asked.normalized is not None and asked.score_rows is not None:
        yield from _check_array("normalize", asked.normalized, asked.score_rows, table)


def _check_array(point: str, answer: object, rows: Rows, table: Cluster) -> Iterator[Case]:
    if not isinstance(answer, np.ndarray):
        yield KIND, f"{point} gave a {type(answer).__name__}"
        return
    if answer.dtype.kind != "i" or (point != "filter" and answer.dtype != np.int64):
        yield KIND, f"{point} gave an array of {answer.dtype}"
    if answer.shape != (len(indices(rows)),):
        yield KIND, f"{point} gave {answer.shape} answers for {len(indices(rows))} rows"
    for column, values in _columns(table).items():
        if np.shares_memory(answer, values):
            yield OWN_ARRAY, f"{point} gave a view of the column {column}"


def _check_parts(plugin: Plugin, asked: Asked) -> Iterator[Case]:
    if isinstance(plugin, FilterPlugin) and asked.statuses is not None:
        rows = indices(_rows_or_none(asked.filter_rows))
        for part in _parts(len(rows)):
            verdict = check_verdict(plugin.filter(asked.cycle, rows[part]))
            wanted = [asked.statuses[i] for i in part]
            if statuses_of(verdict, len(part)) != wanted:
                yield PART_OF_WHOLE, f"filter of rows {rows[part].tolist()} is not {wanted}"
    if isinstance(plugin, ScorePlugin) and asked.raw is not None:
        rows = indices(_rows_or_none(asked.score_rows))
        for part in _parts(len(rows)):
            scores = np.asarray(plugin.score(asked.cycle, rows[part])).tolist()
            if scores != asked.raw[part].tolist():
                chosen, wanted_scores = rows[part].tolist(), asked.raw[part].tolist()
                yield PART_OF_WHOLE, f"score of rows {chosen} is {scores}, not {wanted_scores}"


def _check_rows(plugin: Plugin, asked: Asked) -> Iterator[Case]:
    """`filter_row` and `score_row`, where they are written."""
    if isinstance(plugin, FilterPlugin) and plugin.has_filter_row and asked.statuses is not None:
        rows = indices(_rows_or_none(asked.filter_rows)).tolist()
        for row, wanted in zip(rows, asked.statuses, strict=True):
            status = plugin.filter_row(asked.cycle, row)
            if status != wanted:
                yield ROW_FORM, f"filter_row of row {row} is {status}, not {wanted}"
    if isinstance(plugin, ScorePlugin) and plugin.has_score_row and asked.raw is not None:
        rows = indices(_rows_or_none(asked.score_rows)).tolist()
        for row, score in zip(rows, asked.raw.tolist(), strict=True):
            found = plugin.score_row(asked.cycle, row)
            if found != score:
                yield ROW_FORM, f"score_row of row {row} is {found}, not {score}"


def _check_normalized(plugin: Plugin, asked: Asked) -> Iterator[Case]:
    raw, normalized = asked.raw, asked.normalized
    if not isinstance(plugin, ScorePlugin) or raw is None or normalized is None:
        return
    if len(normalized) and (normalized.min() < 0 or normalized.max() > 100):
        yield RANGE, f"normalize made {normalized.tolist()} of {raw.tolist()}"
    kept = raw.copy()
    plugin.normalize(asked.cycle, _rows_or_none(asked.score_rows), raw)
    if not np.array_equal(raw, kept):
        yield NO_CHANGES, "normalize wrote to its argument"
        raw[:] = kept
    if plugin.normalizes_by_range and len(raw) > 2:
        some = np.unique([int(raw.argmin()), int(raw.argmax()), len(raw) // 2])
        rows = indices(_rows_or_none(asked.score_rows))[some]
        part = plugin.normalize(asked.cycle, rows, raw[some]).tolist()
        if part != normalized[some].tolist():
            yield BY_RANGE, f"{part} for some rows and {normalized[some].tolist()} among all"


def _parts(count: int) -> Sequence[list[int]]:
    """Positions of a few subsets: one, every other one backwards, all backwards, none."""
    backwards = list(range(count))[::-1]
    return [backwards[:1], backwards[::2], backwards, []]


def _rows_or_none(rows: Rows | None) -> Rows:
    return rows if rows is not None else np.zeros(0, dtype=np.intp)


def _columns(table: Cluster) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    return {
        name: value
        for part in (table.nodes, table.usage)
        for name, value in vars(part).items()
        if isinstance(value, np.ndarray)
    }


def _snapshot(pod: Pod, table: Cluster) -> tuple[bytes, list[bytes], list[bytes]]:
    """What asking must leave as it is. Columns are compared as far as they reach at both times."""
    nodes = [msgspec.json.encode(node) for node in table.nodes.objects if node is not None]
    size = table.nodes.size
    known = (table.nodes.allocatable[:3, :size], table.usage.pod_count[:size])
    columns = [column.tobytes() for column in (*known, table.usage.requested[:3, :size])]
    return msgspec.json.encode(pod), nodes, columns
