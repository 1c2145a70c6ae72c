"""What a container would do: how long it runs, how it ends, and what it leaves in files.

Nothing is ever executed. The few commands that tests of clusters are made of are recognised, alone
or in lines of a shell: `sleep`, `true`, `false`, `exit`, `echo`, `touch`, `rm`, `mkdir`, `cat`,
`test`, `expr`. Files are names that are there or are not. What is not recognised runs for ever,
or, where a pod waits for it to end, ends well at once.

>>> recognise(("sh", "-c", "sleep 5 && exit 3"))
Program(seconds=5.0, exit_code=3, reads_files=False)

Files as programs in containers leave them: names that are there from one time to another. A program
is read to its end when it starts, so what it writes later is known beforehand; everyone who looks
sees what is there by then. Volumes are seen by several containers: those of a pod share its empty
directories, pods of a node its paths, pods of a claim its volume.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, assert_never

from podium.simulated.programs.shell_syntax import (
    Arithmetic,
    Commands,
    If,
    Loop,
    NotUnderstood,
    ShellText,
    Simple,
    Substitution,
    Variable,
    Word,
    parse,
)


@dataclass(slots=True)
class SimulatedDisk:
    """By path, when a file came and went."""

    changes: defaultdict[str, list[tuple[float, bool]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def exists(self, path: str, at_s: float) -> bool:
        there = False
        for changed_s, now_there in sorted(self.changes.get(path, ())):
            if changed_s <= at_s:
                there = now_there
        return there

    def write(self, path: str, at_s: float, *, there: bool) -> None:
        if self.exists(path, at_s) != there:
            self.changes[path].append((at_s, there))


class Mount(NamedTuple):
    path: str
    disk: SimulatedDisk
    below: str = ""
    """Where on the disk the mounted directory begins."""


@dataclass(slots=True)
class ContainerFiles:
    """What the container of a program sees: its own disk and what is mounted there."""

    own: SimulatedDisk = field(default_factory=SimulatedDisk)
    mounts: tuple[Mount, ...] = ()
    begun_s: float = 0.0
    """When the program began."""

    def exists(self, path: str, after_s: float) -> bool:
        disk, rest = self._find(path)
        return disk.exists(rest, self.begun_s + after_s)

    def write(self, path: str, after_s: float, *, there: bool) -> None:
        disk, rest = self._find(path)
        disk.write(rest, self.begun_s + after_s, there=there)

    def _find(self, path: str) -> tuple[SimulatedDisk, str]:
        for mount in sorted(self.mounts, key=lambda each: len(each.path), reverse=True):
            root = mount.path.rstrip("/")
            if path == root or path.startswith(f"{root}/"):
                return mount.disk, f"{mount.below}/{path[len(root) + 1 :]}"
        return self.own, path


class Disks:
    """All disks of a cluster, by whom they belong to; the first of the key is what is forgotten."""

    def __init__(self) -> None:
        self._disks: defaultdict[str, dict[Hashable, SimulatedDisk]] = defaultdict(dict)

    def of(self, owner: str, *which: Hashable) -> SimulatedDisk:
        return self._disks[owner].setdefault(which, SimulatedDisk())

    def forget(self, owner: str) -> None:
        self._disks.pop(owner, None)


_SHELLS: Final = frozenset({"sh", "bash", "ash", "dash"})
_SHELL_FLAGS: Final = re.compile(r"-[a-z]*c")
_UNKNOWN: Final = frozenset("|<>()$`{}\\&*?!#")
"""What a command outside of a shell may hold that is not looked into."""
_DURATION: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)")
_UNITS: Final = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_INTEGER: Final = re.compile(r"[+-]?\d{1,9}")
_SUM: Final = re.compile(r"\s*(-?\d{1,9})\s*([-+*/%])\s*(-?\d{1,9})\s*")
_MAX_SCRIPT: Final = 4096
_MAX_STEPS: Final = 1000
"""A loop that has gone on for this long does not end."""


class SimulatedProgram(NamedTuple):
    seconds: float | None
    """How long it runs; None: until it is stopped."""
    exit_code: int = 0
    reads_files: bool = False
    """Whether it may do something else another time."""


FOR_EVER: Final = SimulatedProgram(None)
DONE: Final = SimulatedProgram(0.0)


def recognise(
    words: Sequence[str],
    variables: Mapping[str, str] | None = None,
    files: ContainerFiles | None = None,
) -> SimulatedProgram | None:
    """What a command does; None if it is none of those that are known."""
    if not words:
        return None
    run = _Run(variables or {}, files or ContainerFiles())
    name, *rest = words
    try:
        if name.rsplit("/", 1)[-1] in _SHELLS:
            if len(rest) < 2 or not _SHELL_FLAGS.fullmatch(rest[0]) or len(rest[1]) > _MAX_SCRIPT:
                return None
            commands = parse(rest[1])
            if not commands:
                return None
            run.stops_at_failure = "e" in rest[0]
            run.carry_out(commands)
        elif any(character in _UNKNOWN for word in words for character in word):
            return None
        else:
            run.call(list(words))
    except NotUnderstood:
        return None
    except _Ended:
        pass
    return SimulatedProgram(run.seconds, run.code, run.reads_files)


class _Ended(Exception):
    """The program has come to its end."""


@dataclass(slots=True)
class _Run:
    variables: Mapping[str, str]
    files: ContainerFiles
    seconds: float | None = 0.0
    code: int = 0
    reads_files: bool = False
    stops_at_failure: bool = False
    steps: int = 0
    output: list[str] = field(default_factory=list)

    @property
    def _after_s(self) -> float:
        return self.seconds or 0.0

    def carry_out(self, commands: Commands, *, is_condition: bool = False) -> None:
        for joint, command in commands:
            if (joint == "&&" and self.code) or (joint == "||" and not self.code):
                continue
            match command:
                case Simple():
                    self._simple(command)
                case If():
                    self._choose(command)
                case Loop():
                    self._loop(command)
                case _:
                    assert_never(command)
            if self.code and self.stops_at_failure and not is_condition:
                raise _Ended

    def _choose(self, command: If) -> None:
        for condition, body in command.branches:
            if self._holds(condition):
                self.code = 0
                return self.carry_out(body)
        self.code = 0
        return self.carry_out(command.otherwise)

    def _loop(self, command: Loop) -> None:
        while self._holds(command.condition) != command.until:
            self.carry_out(command.body)
        self.code = 0

    def _holds(self, condition: Commands) -> bool:
        self.carry_out(condition, is_condition=True)
        return not self.code

    def _simple(self, command: Simple) -> None:
        self.steps += 1
        if self.steps > _MAX_STEPS:
            self.seconds, self.code = None, 0
            raise _Ended
        self.call([self._expand(word) for word in command.words])
        for word in command.written:
            self.files.write(self._expand(word), self._after_s, there=True)

    # --- words ----------------------------------------------------------------------------------

    def _expand(self, word: Word) -> str:
        return "".join(self._part(part) for part in word)

    def _part(self, part: ShellText | Variable | Arithmetic | Substitution) -> str:
        match part:
            case ShellText():
                return part.text
            case Variable():
                return self._value(part.name)
            case Arithmetic():
                text = re.sub(r"\$?\{?([A-Za-z_]\w*)\}?", lambda m: self._value(m[1]), part.text)
                return str(_sum(_SUM.fullmatch(text)))
            case Substitution():
                outer, self.output = self.output, []
                self.carry_out(part.commands, is_condition=True)
                told, self.output = "\n".join(self.output), outer
                return told
        assert_never(part)

    def _value(self, name: str) -> str:
        if name not in self.variables:
            raise NotUnderstood
        return self.variables[name]

    # --- commands -------------------------------------------------------------------------------

    def call(self, words: list[str]) -> None:
        name, *arguments = words
        self.code = 0
        match name.rsplit("/", 1)[-1]:
            case "true" | ":" | "sync":
                pass
            case "false":
                self.code = 1
            case "echo" | "printf":
                self.output.append(" ".join(arguments))
            case "exit":
                self.code = _exit_code(arguments)
                raise _Ended
            case "sleep":
                self._sleep(arguments)
            case "touch" | "mkdir" | "rm":
                for path in _paths(arguments):
                    self.files.write(path, self._after_s, there=not name.endswith("rm"))
            case "cat" | "ls":
                paths = _paths(arguments)
                if not paths:
                    raise NotUnderstood
                self.code = int(not all(self._exists(path) for path in paths))
            case "test":
                self.code = int(not self._test(arguments))
            case "[" | "[[":
                if not arguments or arguments[-1] != {"[": "]", "[[": "]]"}[name]:
                    raise NotUnderstood
                self.code = int(not self._test(arguments[:-1]))
            case "expr":
                value = _sum(_SUM.fullmatch(" ".join(arguments)))
                self.output.append(str(value))
                self.code = int(not value)
            case _:
                raise NotUnderstood

    def _exists(self, path: str) -> bool:
        self.reads_files = True
        return self.files.exists(path, self._after_s)

    def _sleep(self, arguments: Sequence[str]) -> None:
        if arguments and all(each in ("infinity", "inf") for each in arguments):
            self.seconds = None
            raise _Ended
        found = [_DURATION.fullmatch(each) for each in arguments]
        if not found:
            raise NotUnderstood
        for each in found:
            if each is None:
                raise NotUnderstood
            self.seconds = self._after_s + float(each[1]) * _UNITS[each[2]]

    def _test(self, arguments: list[str]) -> bool:
        match arguments:
            case ["!", *rest]:
                return not self._test(rest)
            case ["-e" | "-f" | "-r" | "-d" | "-s" | "-w", path]:
                return self._exists(path)
            case ["-n", text] | [text]:
                return bool(text)
            case ["-z", text]:
                return not text
            case [left, "=" | "==", right]:
                return left == right
            case [left, "!=", right]:
                return left != right
            case [left, operator, right]:
                return _compare(left, operator, right)
        raise NotUnderstood


def _paths(arguments: Sequence[str]) -> list[str]:
    return [each for each in arguments if not each.startswith("-")]


def _exit_code(arguments: Sequence[str]) -> int:
    if not arguments:
        return 0
    if len(arguments) > 1 or not arguments[0].isdecimal() or len(arguments[0]) > 9:
        raise NotUnderstood
    return int(arguments[0]) % 256


def _compare(left: str, operator: str, right: str) -> bool:
    if not _INTEGER.fullmatch(left) or not _INTEGER.fullmatch(right):
        raise NotUnderstood
    first, second = int(left), int(right)
    found = {
        "-eq": first == second,
        "-ne": first != second,
        "-lt": first < second,
        "-le": first <= second,
        "-gt": first > second,
        "-ge": first >= second,
    }
    if operator not in found:
        raise NotUnderstood
    return found[operator]


def _sum(terms: re.Match[str] | None) -> int:
    """Of two numbers; quotients and remainders are cut off towards zero, as shells do."""
    if terms is None:
        raise NotUnderstood
    left, operator, right = int(terms[1]), terms[2], int(terms[3])
    if operator in "/%":
        if not right:
            raise NotUnderstood
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    return {"+": left + right, "-": left - right, "*": left * right}[operator]
