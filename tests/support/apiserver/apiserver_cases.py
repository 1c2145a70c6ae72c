"""Recorded answers of a real API server: cases to replay, and their steps for pure functions.

Times and uids were recorded as placeholders; in steps they become values that can be decoded.
"""

from typing import Any

from support.recorded_cases import read_recorded

_PLACEHOLDERS = {
    "<TIME>": "2026-01-01T00:00:00Z",
    "<MICROTIME>": "2026-01-01T00:00:00.000000Z",
    "<UID>": "8d7f9a3e-0000-4000-8000-000000000000",
    "<RV>": "7",
}


def transcripts() -> dict[str, dict[str, Any]]:
    """All cases by their names, as they were recorded."""
    return {case["name"]: case for case in read_recorded("apiserver")}


def recorded_steps(case: str) -> list[dict[str, Any]]:
    """The steps of a case, without placeholders."""
    steps: list[dict[str, Any]] = _filled(transcripts()[case]["steps"])
    return steps


def _filled(value: Any) -> Any:
    match value:
        case str():
            return _PLACEHOLDERS.get(value, value)
        case dict():
            return {key: _filled(item) for key, item in value.items()}
        case list():
            return [_filled(item) for item in value]
    return value


def parts_missing(part: Any, whole: Any, path: str = "") -> list[str]:
    """Paths at which `whole` has not what `part` has; lists have to be of equal length."""
    match part, whole:
        case dict(), dict():
            missing = [f"{path}.{key}" for key in part if key not in whole]
            return missing + [
                found
                for key in part
                if key in whole
                for found in parts_missing(part[key], whole[key], f"{path}.{key}")
            ]
        case list(), list():
            if len(part) != len(whole):
                return [path]
            return [
                found
                for index, (one, other) in enumerate(zip(part, whole, strict=True))
                for found in parts_missing(one, other, f"{path}[{index}]")
            ]
    return [] if part == whole else [path]
