"""Fields of which exactly one is to be there, and numbers in a range."""

from collections.abc import Sequence

from podium.golang.errors import ObjectError
from podium.kubernetes.kinds.meta import KubeStruct, Quantity


def choose_one(written: KubeStruct, names: Sequence[str], path: str) -> str:
    """The name of the only one that is there. Raises ObjectError."""
    found = [name for name in names if getattr(written, name) not in (None, "")]
    if len(found) == 1:
        return found[0]
    problem = f"has {' and '.join(found)}" if found else "is empty"
    raise ObjectError(path, problem, f"give exactly one of {', '.join(names)}")


def parse_number(
    written: Quantity, path: str, *, least: float = 0.0, most: float = float("inf")
) -> float:
    """Raises ObjectError."""
    try:
        number = float(written)
    except ValueError:
        raise ObjectError(path, f'"{written}" is no number') from None
    if not least <= number <= most:
        upper = "" if most == float("inf") else f" and at most {most:g}"
        raise ObjectError(path, f"{number:g} is out of range", f"at least {least:g}{upper}")
    return number
