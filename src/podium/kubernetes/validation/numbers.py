"""Counts and shares: numbers that are not negative, percentages of at most a hundred."""

from collections.abc import Iterable

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import invalid
from podium.kubernetes.validation.names import percent_problems
from podium.kubernetes.validation.object_meta import NOT_NEGATIVE, Errors, check_each


def check_not_negative(
    errors: Errors, holder: JsonObject, fields: Iterable[str], path: str
) -> None:
    for field in fields:
        count = holder.get(field)
        if count is not None and count < 0:
            errors.append(invalid(f"{path}.{field}", count, NOT_NEGATIVE))


def check_count_or_percent(errors: Errors, share: int | str, path: str) -> None:
    if isinstance(share, str):
        check_each(errors, percent_problems(share), share, path)
    elif share < 0:
        errors.append(invalid(path, share, NOT_NEGATIVE))


def check_at_most_all(errors: Errors, share: int | str, path: str) -> None:
    percent = percent_of(share)
    if percent is not None and percent > 100:
        errors.append(invalid(path, share, "must not be greater than 100%"))


def check_share(errors: Errors, share: int | str, path: str) -> None:
    check_count_or_percent(errors, share, path)
    check_at_most_all(errors, share, path)


def percent_of(share: int | str) -> int | None:
    """None if it is a count, or no percentage at all."""
    if isinstance(share, str) and not percent_problems(share):
        return int(share[:-1])
    return None


def is_nothing(share: int | str | None) -> bool:
    """Whether a count or percentage comes to zero; texts that are neither count as zero."""
    if share is None or isinstance(share, str):
        return not (percent_of(share) if share is not None else None)
    return share == 0
