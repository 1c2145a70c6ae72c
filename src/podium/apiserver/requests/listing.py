"""Lists: selections, pages, and at which revision.

A page remembers the revision of the list's first page, so that all pages together are one
consistent list. Revisions that history no longer covers are answered with 410.

Getting one object.
"""

import base64
from typing import NamedTuple

import msgspec

from podium.apiserver.bodies import Unreadable, read_json
from podium.apiserver.requests import query
from podium.apiserver.requests.query import EXACT, NOT_OLDER_THAN, ListOptions, Parameters
from podium.apiserver.requests.registry import Registry
from podium.apiserver.selectors import SelectionPredicate, selection_of
from podium.apiserver.store.collection import HistoryLost, State
from podium.apiserver.store.stored import Stored
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import ApiResource
from podium.scheduler.config.decode_values import json_kind

_TOKEN_VERSION = "meta.k8s.io/v1"
_TOO_OLD_LIST = "The resourceVersion for the provided list is too old."
_TOO_OLD_TOKEN = (
    "The provided continue parameter is too old to display a consistent list result. You can start"
    " a new list without the continue parameter, or use the continue token in this response to"
    " retrieve the remainder of the results. Continuing with the provided token results in an"
    " inconsistent list - objects that were created, modified, or deleted between the time the"
    " first chunk was returned and now may show up in the list."
)


class Listed(NamedTuple):
    """A list, or a page of one."""

    versions: list[Stored]
    metadata: JsonObject
    """resourceVersion, continue and remainingItemCount, as far as they apply."""


def list_objects(
    registry: Registry, resource: ApiResource, namespace: str, options: ListOptions
) -> Listed:
    selection = selection_of(resource, options.label_selector, options.field_selector)
    revision, after, exact = _where(registry, options)
    oldest = registry.compaction.oldest(registry.store.revision)
    if exact and revision < oldest:
        raise _lost(options, after)
    collection = registry.collection(resource)
    only = _only_key(resource, namespace, selection)
    try:
        if exact and revision != registry.store.revision:
            state: State | list[Stored] = collection.state(namespace, after, revision)
        elif only is None:
            state = collection.state(namespace, after)
        else:
            found = collection.items.get(only)
            state = [found] if found is not None and only > after else []
    except HistoryLost:
        raise _lost(options, after) from None
    return _page(state, selection, revision, options)


def _only_key(resource: ApiResource, namespace: str, selection: SelectionPredicate) -> str | None:
    """The key of the only object that can match, so that the others need not be looked at."""
    if selection.name is None or (resource.namespaced and not namespace):
        return None
    return f"{namespace}/{selection.name}" if namespace else selection.name


class _Where(NamedTuple):
    revision: int
    after: str
    """Continue behind this key."""
    exact: bool
    """As it was at the revision, not as it is."""


def _where(registry: Registry, options: ListOptions) -> _Where:
    current = registry.store.revision
    given = options.resource_version
    if options.continue_token:
        if given and given != "0":
            raise status_errors.bad_request(
                "specifying resource version is not allowed when using continue"
            )
        revision, after = _read_token(options.continue_token)
        if revision < 0:  # a token that says: go on with what is there now
            return _Where(current, after, False)
        check_not_ahead(registry, revision)
        return _Where(revision, after, True)
    try:
        wanted = query.revision(given)
    except ValueError as problem:
        raise status_errors.bad_request(f"invalid resource version: {problem}") from None
    check_not_ahead(registry, wanted)
    if options.resource_version_match == EXACT:
        return _Where(wanted, "", True)
    if wanted and options.limit > 0 and options.resource_version_match != NOT_OLDER_THAN:
        return _Where(wanted, "", True)  # upstream: a limit makes an old revision exact
    return _Where(current, "", False)


def check_not_ahead(registry: Registry, wanted: int) -> None:
    """A revision that the server has not reached yet."""
    current = registry.store.revision
    if wanted > current:
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        raise status_errors.timed_out(
            f"Timeout: Too large resource version: {wanted}, current: {current}",
            details={"causes": [cause], "retryAfterSeconds": 1},
            retry_after_s=1,
        )


def _page(
    state: State | list[Stored], selection: SelectionPredicate, revision: int, options: ListOptions
) -> Listed:
    metadata: JsonObject = {"resourceVersion": str(revision)}
    limit = options.limit
    if limit <= 0 or options.resource_version == "0":  # upstream: the cache ignores limits
        if selection.selects_all:
            return Listed(list(state), metadata)
        return Listed([version for version in state if selection.matches(version)], metadata)
    page: list[Stored] = []
    last = ""
    for seen, version in enumerate(state):
        if len(page) == limit:
            metadata["continue"] = _token(revision, last)
            if selection.selects_all:
                metadata["remainingItemCount"] = len(state) - seen
            break
        last = version.key
        if selection.matches(version):
            page.append(version)
    return Listed(page, metadata)


def _token(revision: int, after: str) -> str:
    text = msgspec.json.encode({"v": _TOKEN_VERSION, "rv": revision, "start": after + "\0"})
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def _read_token(token: str) -> tuple[int, str]:
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        value = read_json(text).value
    except Unreadable as problem:
        raise _bad_token(str(problem)) from None
    except ValueError:
        raise _bad_token("illegal base64 data") from None
    if not isinstance(value, dict) or value.get("v") != _TOKEN_VERSION:
        found = value.get("v", "") if isinstance(value, dict) else ""
        raise _bad_token(f'server does not recognize this encoded version "{found}"')
    revision, start = value.get("rv"), value.get("start")
    if not revision and not isinstance(revision, str):
        raise _bad_token(f"incorrect encoded start resourceVersion (version {_TOKEN_VERSION})")
    if type(revision) is not int or not -(2**63) <= revision < 2**63:
        found = json_kind(revision)
        found += f" {revision}" if found == "number" else ""
        told = f"json: cannot unmarshal {found} into Go struct field continueToken.rv of type int64"
        raise _bad_token(told)
    if not isinstance(start, str) or not start:
        raise _bad_token(f"encoded start key empty (version {_TOKEN_VERSION})")
    # upstream: a key that `path.Clean` would change might lead above the resource.
    if start != "/" and not {"", ".", ".."}.isdisjoint(start.removeprefix("/").split("/")):
        raise _bad_token(start)
    return revision, start.rstrip("\0")


def _bad_token(why: str) -> status_errors.StatusError:
    return status_errors.bad_request(f"invalid continue token: continue key is not valid: {why}")


def _lost(options: ListOptions, after: str) -> status_errors.StatusError:
    if not options.continue_token:
        return status_errors.expired(_TOO_OLD_LIST)
    problem = status_errors.expired(_TOO_OLD_TOKEN)
    problem.metadata = {"continue": _token(-1, after)}
    return problem


def get(
    registry: Registry, resource: ApiResource, namespace: str, name: str, parameters: Parameters
) -> Stored:
    """The newest version; one that is to be newer than the newest is waited for in vain."""
    try:
        wanted = query.revision(query.text(parameters, "resourceVersion"))
    except ValueError as problem:
        raise status_errors.internal(str(problem)) from None
    check_not_ahead(registry, wanted)
    return registry.get(resource, namespace, name)
