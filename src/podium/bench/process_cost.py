"""What a process has cost the machine so far, from where the kernel tells it."""

import os
from pathlib import Path
from typing import Final

_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
_USER, _SYSTEM = 11, 12
"""Places in `/proc/PID/stat` behind the name, which may itself hold spaces and brackets."""


def cpu_s(process: int) -> float:
    """Processor time in all of its threads, of the process itself and of the kernel for it."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[_USER]) + int(fields[_SYSTEM])) / _TICKS_PER_S


def rss_mb(process: int) -> float:
    """Memory that it holds now."""
    return _status_mb(process, "VmRSS:")


def peak_rss_mb(process: int) -> float:
    """The most memory that it ever held."""
    return _status_mb(process, "VmHWM:")


def _status_mb(process: int, field: str) -> float:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(field):
            return round(int(line.split()[1]) / 1024, 1)
    return 0.0
