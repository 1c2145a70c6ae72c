"""Paths inside volumes and containers, and the files that are made there."""

import re
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import invalid, required
from podium.kubernetes.validation.names import subdomain_problems
from podium.kubernetes.validation.object_meta import Errors, check_each

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
