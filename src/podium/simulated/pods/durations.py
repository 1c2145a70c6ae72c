"""How long things take, as people write it: `90`, `1.5`, `1m30s`."""

from podium.golang.durations import Duration


def seconds_of(written: str) -> float | None:
    """Seconds; None for what is no duration, or a negative one."""
    try:
        seconds = float(written)
    except ValueError:
        try:
            seconds = Duration.parse(written).seconds
        except ValueError:
            return None
    return seconds if 0 <= seconds < float("inf") else None


def whole_number(written: str) -> int | None:
    """A number from 0 to 255, as exit codes are."""
    return int(written) if written.isdecimal() and int(written) < 256 else None
