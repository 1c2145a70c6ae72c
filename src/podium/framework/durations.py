"""Durations in Go's notation, because messages carry them."""

_UNITS = ((1e-6, "ns", 1e9), (1e-3, "µs", 1e6), (1.0, "ms", 1e3))


def go_duration(seconds: float) -> str:
    """`300` -> `5m0s`, `0.25` -> `250ms`, `0` -> `0s`."""
    if seconds == 0:
        return "0s"
    if seconds < 0:
        return "-" + go_duration(-seconds)
    for limit, unit, per_second in _UNITS:
        if seconds < limit:
            return f"{_trim(seconds * per_second)}{unit}"
    minutes, rest = divmod(round(seconds * 1e9), 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    text = f"{_trim(rest / 1e9)}s"
    if hours:
        return f"{hours}h{minutes}m{text}"
    return f"{minutes}m{text}" if minutes else text


def _trim(number: float) -> str:
    text = f"{number:.9f}".rstrip("0").rstrip(".")
    return text or "0"
