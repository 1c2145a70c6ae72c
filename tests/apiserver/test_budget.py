"""No request makes the server work for long: a budget for whatever fits into one.

Every request of up to 3 MiB is answered within `BUDGET_S` of the process's CPU time. The fields to
fill are drawn from the schemas of all kinds by a seed that a failure shows (`PODIUM_SEED=n` draws
the same again); `PODIUM_LONG=1` tries them all, which takes hours. What once was hard is always
tried. CPU time is what is counted, since the time on the clock belongs to everybody.
"""

import json
import os
import time
from collections.abc import Iterator
from random import Random
from typing import Any

from api_calls import APPLY, JSON_PATCH, MERGE, STRATEGIC, Answer, Api
from hostile_shapes import Place, all_places
from test_fuzz import collection, populated

from podium.apiserver.http.messages import MAX_BODY_BYTES

BUDGET_S = 1.0
LONG = bool(os.environ.get("PODIUM_LONG"))
SEED = int(os.environ.get("PODIUM_SEED") or time.time_ns() % 100_000)
SAMPLE = 12
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


class Meter:
    """A server with an object of every kind, and how long each request kept it busy."""

    def __init__(self) -> None:
        self.api: Api = populated()
        self.spent: dict[str, float] = {}

    def ask(self, what: str, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        content = body if isinstance(body, bytes | None) else encoded(body)
        assert content is None or len(content) <= MAX_BODY_BYTES
        started = time.process_time()
        answer = self.api.ask(method, path, content, **options)
        self.spent[what] = time.process_time() - started
        return answer

    def beyond_budget(self) -> dict[str, float]:
        return {what: spent for what, spent in self.spent.items() if spent > BUDGET_S}


def write_in_all_ways(meter: Meter, place: Place, form: str) -> None:
    """Send what a place can hold in every way in which it can be sent."""
    content = place.content(form, place.largest(form))
    fewer = (
        list(content)[1:] if isinstance(content, list | str) else dict(list(content.items())[1:])
    )
    fewer = "".join(fewer) if isinstance(content, str) else fewer
    if isinstance(fewer, list):
        fewer.reverse()
    all_of_it = collection(place.resource)
    for name in ("new", "applied"):
        meter.api.ask("DELETE", f"{all_of_it}/{name}?gracePeriodSeconds=0")
    one, applied = f"{all_of_it}/a", f"{all_of_it}/applied?fieldManager=m&force=true"
    body, changed = encoded(place.object(content)), encoded(place.object(fewer))
    meter.ask("create", "POST", f"{all_of_it}?fieldValidation=Strict", place.object(content, "new"))
    meter.ask("show as a table", "GET", f"{all_of_it}/new", accept=TABLE)
    meter.ask("replace", "PUT", f"{one}?dryRun=All", body)
    if place.path[0] == "status":
        one = f"{one}/status"
        meter.ask("replace the status", "PUT", f"{one}?dryRun=All", body)
    meter.ask("merge", "PATCH", f"{one}?dryRun=All", body, content_type=MERGE)
    meter.ask("merge strategically", "PATCH", f"{one}?dryRun=All", body, content_type=STRATEGIC)
    added = [
        {"op": "add", "path": f"/{place.path[0]}", "value": json.loads(body).get(place.path[0])}
    ]
    meter.ask("patch", "PATCH", f"{one}?dryRun=All", added, content_type=JSON_PATCH)
    first, again = place.object(content, "applied"), place.object(fewer, "applied")
    meter.ask("apply", "PATCH", applied, first, content_type=APPLY)
    meter.ask("apply again", "PATCH", applied, again, content_type=APPLY)
    meter.ask("apply as another", "PATCH", applied.replace("=m", "=n"), first, content_type=APPLY)
    again["metadata"] = {}
    meter.ask(
        "merge what is there",
        "PATCH",
        applied.split("?", maxsplit=1)[0],
        again,
        content_type=STRATEGIC,
    )
    meter.ask("delete", "DELETE", f"{all_of_it}/a?dryRun=All", changed)


def drawn() -> Iterator[tuple[Place, str]]:
    found = [(place, form) for place in all_places() for form in place.forms]
    yield from found if LONG else Random(SEED).sample(found, SAMPLE)


def test_no_field_can_hold_more_than_the_server_has_time_for() -> None:
    meter = Meter()
    for place, form in drawn():
        write_in_all_ways(meter, place, form)

        assert meter.beyond_budget() == {}, f"PODIUM_SEED={SEED} {place} [{form}]"
