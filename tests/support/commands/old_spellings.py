"""What commands make of old spellings."""

from support.commands.command_line import Done


def warnings(done: Done) -> list[str]:
    return [line for line in done.err.splitlines() if line.startswith("podium: warning: ")]


def placements(done: Done) -> dict[str, str | None]:
    return {each["name"]: each["node"] for each in done.decoded()["pods"]}
