"""One instant query of Prometheus' HTTP API, and its answer as samples.

`GET /api/v1/query`: GET rather than POST, since proxies that only let readers through take a POST
for a write. An answer that is no vector (a scalar, a matrix) is a mistake in the query and says so.
"""

import math
from typing import Any, Final, NamedTuple

import msgspec

from podium.addons.collection.measurement_endpoint import Endpoint, NoMeasurements
from podium.client.transport import Reply

MAX_QUERY_BYTES: Final = 8192
PATH: Final = "/api/v1/query"
_VECTOR: Final = "vector"
_MAX_SHOWN: Final = 300


class Sample(NamedTuple):
    """One series at one moment."""

    labels: dict[str, str]
    at: float
    """Seconds since 1970, by the server's clock."""
    value: float


class _Series(msgspec.Struct):
    metric: dict[str, str] = {}
    value: tuple[float, str] = (0.0, "NaN")


class _Data(msgspec.Struct, rename="camel"):
    result_type: str = ""
    result: msgspec.Raw = msgspec.Raw(b"[]")


class _Answer(msgspec.Struct, rename="camel"):
    status: str = ""
    data: _Data | None = None
    error_type: str = ""
    error: str = ""


async def ask_query(endpoint: Endpoint, query: str, *, timeout_s: float) -> list[Sample]:
    """Every sample of the answer that is a number. Raises NoMeasurements, and what a request
    raises."""
    return read_samples(await endpoint.ask(PATH, (("query", query),), timeout_s=timeout_s), query)


def read_samples(reply: Reply, query: str) -> list[Sample]:
    """Raises NoMeasurements."""
    try:
        answer = msgspec.json.decode(reply.body, type=_Answer)
    except (msgspec.DecodeError, RecursionError):
        words = f"answered {reply.status} with something that is no answer of Prometheus"
        raise NoMeasurements(words) from None
    if answer.status != "success" or answer.data is None:
        told = answer.error or f"status {reply.status}"
        raise NoMeasurements(f"query {_short(query)} failed: {_short(told)}")
    if answer.data.result_type != _VECTOR:
        kind = answer.data.result_type or "nothing"
        raise NoMeasurements(
            f"query {_short(query)} gives {_short(kind)}, not a value for each node"
        )
    try:
        series = msgspec.json.decode(answer.data.result, type=list[_Series])
        samples = [Sample(each.metric, each.value[0], float(each.value[1])) for each in series]
    except (msgspec.DecodeError, RecursionError, ValueError):
        raise NoMeasurements("the samples of the answer cannot be read") from None
    return [sample for sample in samples if math.isfinite(sample.value)]


def quote_label_value(text: str) -> str:
    """A label's value in a matcher: `ens"1` becomes `"ens\\"1"`."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _short(text: Any) -> str:
    shown = str(text)
    return shown if len(shown) <= _MAX_SHOWN else shown[:_MAX_SHOWN] + "..."
