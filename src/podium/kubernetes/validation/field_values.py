"""Values that fields of many kinds share: counts, percentages and paths.

Paths inside volumes and containers, and the files that are made there.
"""

import re
from collections.abc import Iterable
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import invalid, required
from podium.kubernetes.validation.names import percent_problems, subdomain_problems
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


FILE_MODE: Final = "must be a number between 0 and 0777 (octal), both inclusive"

_URL_PATH_FORM: Final = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_URL_PATH: Final = re.compile(_URL_PATH_FORM)


def check_domain_path(errors: Errors, text: str, path: str) -> None:
    """A path below a domain, such as `example.com/controller`."""
    domain, _, rest = text.partition("/")
    if not text:
        errors.append(required(path))
    elif not domain or not rest:
        detail = 'must be a domain-prefixed path (such as "acme.io/foo")'
        errors.append(invalid(path, text, detail))
    else:
        check_each(errors, subdomain_problems(domain), domain, path)
        if not _URL_PATH.fullmatch(rest):
            detail = f"Invalid path (regex used for validation is '{_URL_PATH_FORM}')"
            errors.append(invalid(path, rest, detail))


def check_no_backsteps(errors: Errors, target: str, path: str) -> None:
    if ".." in target.split("/"):
        errors.append(invalid(path, target, "must not contain '..'"))


def check_descending(errors: Errors, target: str, path: str) -> None:
    """A relative path that stays below its start."""
    if target.startswith("/"):
        errors.append(invalid(path, target, "must be a relative path"))
    check_no_backsteps(errors, target, path)


def check_local(errors: Errors, target: str, path: str) -> None:
    """Such a path that is also free of names the kubelet keeps for itself."""
    check_descending(errors, target, path)
    if target.startswith("..") and not target.startswith("../"):
        errors.append(invalid(path, target, "must not start with '..'"))


def check_mode(errors: Errors, mode: int | None, path: str) -> None:
    if mode is not None and not 0 <= mode <= 0o777:
        errors.append(invalid(path, mode, FILE_MODE))


def check_items(errors: Errors, items: list[JsonObject], path: str) -> None:
    """Which keys of a config map or secret become which files."""
    for index, item in enumerate(items):
        at, target = f"{path}[{index}]", item.get("path") or ""
        if not item.get("key"):
            errors.append(required(f"{at}.key"))
        if not target:
            errors.append(required(f"{at}.path"))
        check_local(errors, target, f"{at}.path")
        check_mode(errors, item.get("mode"), f"{at}.mode")
