"""A Policy inside a ConfigMap, as clusters kept it for `--policy-configmap`.

The ConfigMap has the whole file as text under `policy.cfg`. Whoever wrote it to a file and hands
that to Podium means the Policy, so that is what is read; lines are counted in the outer file where
they can be found there.
"""

from collections.abc import Mapping
from typing import Final

from podium.scheduler.config.decode import DecodeError
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.header import header_of
from podium.scheduler.config.written import WrittenFile, read_written

KEY: Final = "policy.cfg"


def policy_of_config_map(written: WrittenFile) -> WrittenFile:
    """The Policy that a ConfigMap holds; any other file comes back as it is.

    Raises ConfigurationError.
    """
    if not _is_config_map(written.value):
        return written
    data = written.value.get("data")
    policy = data.get(KEY) if isinstance(data, Mapping) else None
    if not isinstance(policy, str):
        raise ConfigurationError(
            f'missing policy config map value at key "{KEY}"',
            remedy=f"write the Policy as text under data: {KEY}",
        )
    inner = read_written(policy.encode())
    offset = _offset(written, policy)
    lines = {} if offset is None else {at: line + offset for at, line in inner.lines.items()}
    return WrittenFile(inner.value, inner.text, inner.repeated_keys, lines)


def _is_config_map(value: object) -> bool:
    try:
        return header_of(value) == ("v1", "ConfigMap")
    except DecodeError:
        return False


def _offset(written: WrittenFile, policy: str) -> int | None:
    """How many lines stand before the Policy's first, if it stands there line by line."""
    key_line = written.lines.get((id(written.value["data"]), KEY))
    outer, inner = (written.text or "").splitlines(), policy.splitlines()
    if key_line is None or not inner or key_line >= len(outer):
        return None
    return key_line if outer[key_line].strip() == inner[0].strip() else None
