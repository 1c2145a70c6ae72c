"""Running a pattern: all possibilities at once, one pass over the text.

The tree becomes a small program of jumps and character tests. Threads advance side by side in
order of preference, and a place of the program holds one thread at most, so a text of n characters
costs at most n times the size of the program, whatever the pattern.
"""

from collections.abc import Iterator

from podium.cel.re2.syntax import (
    At,
    Chars,
    Either,
    Repeat,
    Sequence,
    Test,
    Tree,
    is_word,
)

_CHAR, _PLACE, _SPLIT, _JUMP, _MATCH = range(5)

_Instruction = tuple[int, int, int, Test | None, str]
_Thread = tuple[int, int]
"""(place in the program, where in the text the thread started)"""


class Machine:
    def __init__(self, program: list[_Instruction]) -> None:
        self._program = program

    def matches(self, text: str) -> bool:
        """Whether the pattern matches somewhere in the text."""
        return self.search(text, 0) is not None

    def search(self, text: str, start: int) -> tuple[int, int] | None:
        """The leftmost match from a position on, preferring what the pattern prefers."""
        threads: list[_Thread] = []
        found: tuple[int, int] | None = None
        for at in range(start, len(text) + 1):
            if found is None:
                seen = {place for place, _ in threads}
                threads.extend(self._follow(0, text, at, at, seen))
            elif not threads:
                break
            char = text[at] if at < len(text) else ""
            advanced: list[_Thread] = []
            seen = set()
            for place, began in threads:
                kind, following, _, test, _ = self._program[place]
                if kind == _MATCH:
                    found = (began, at)
                    break
                if char and test is not None and test(char):
                    advanced.extend(self._follow(following, text, at + 1, began, seen))
            threads = advanced
        return found

    def find_all(self, text: str, limit: int) -> Iterator[str]:
        """Matches from left to right that do not overlap; a negative limit means all."""
        at, last_end = 0, -1
        while at <= len(text) and limit != 0:
            match = self.search(text, at)
            if match is None:
                return
            begin, end = match
            if begin == end == last_end:
                # upstream: an empty match right behind another one does not count
                at = end + 1
                continue
            yield text[begin:end]
            limit -= 1
            last_end = end
            at = end if end > begin else end + 1

    def _follow(
        self, place: int, text: str, at: int, began: int, seen: set[int]
    ) -> Iterator[_Thread]:
        """Threads reached from a place without reading, in order of preference."""
        pending = [place]
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            kind, first, second, _, name = self._program[place]
            if kind == _JUMP:
                pending.append(first)
            elif kind == _SPLIT:
                pending += (second, first)
            elif kind == _PLACE:
                if _is_at(name, text, at):
                    pending.append(first)
            else:
                yield place, began


def assemble(tree: Tree) -> Machine:
    program: list[_Instruction] = []
    _emit(tree, program)
    program.append((_MATCH, 0, 0, None, ""))
    return Machine(program)


def _emit(tree: Tree, program: list[_Instruction]) -> None:
    match tree:
        case Chars():
            program.append((_CHAR, len(program) + 1, 0, tree.test, ""))
        case At():
            program.append((_PLACE, len(program) + 1, 0, None, tree.place))
        case Sequence():
            for part in tree.parts:
                _emit(part, program)
        case Either():
            _emit_either(tree, program)
        case Repeat():
            _emit_repeat(tree, program)


def _emit_either(tree: Either, program: list[_Instruction]) -> None:
    exits: list[int] = []
    for option in tree.options[:-1]:
        fork = len(program)
        program.append((_SPLIT, 0, 0, None, ""))
        _emit(option, program)
        exits.append(len(program))
        program.append((_JUMP, 0, 0, None, ""))
        program[fork] = (_SPLIT, fork + 1, len(program), None, "")
    _emit(tree.options[-1], program)
    for place in exits:
        program[place] = (_JUMP, len(program), 0, None, "")


def _emit_repeat(tree: Repeat, program: list[_Instruction]) -> None:
    for _ in range(tree.least):
        _emit(tree.part, program)
    if tree.most is None:
        fork = len(program)
        program.append((_SPLIT, 0, 0, None, ""))
        _emit(tree.part, program)
        program.append((_JUMP, fork, 0, None, ""))
        program[fork] = _fork(fork + 1, len(program), greedy=tree.greedy)
        return
    forks: list[int] = []
    for _ in range(tree.most - tree.least):
        forks.append(len(program))
        program.append((_SPLIT, 0, 0, None, ""))
        _emit(tree.part, program)
    for fork in forks:
        program[fork] = _fork(fork + 1, len(program), greedy=tree.greedy)


def _fork(stay: int, leave: int, *, greedy: bool) -> _Instruction:
    return (_SPLIT, stay, leave, None, "") if greedy else (_SPLIT, leave, stay, None, "")


def _is_at(place: str, text: str, at: int) -> bool:
    match place:
        case "text-start":
            return at == 0
        case "text-end":
            return at == len(text)
        case "line-start":
            return at == 0 or text[at - 1] == "\n"
        case "line-end":
            return at == len(text) or text[at] == "\n"
    before = at > 0 and is_word(text[at - 1])
    after = at < len(text) and is_word(text[at])
    return (before != after) == (place == "word")
