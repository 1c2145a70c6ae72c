"""A pattern → a tree of what it matches.

Follows Go's `regexp/syntax` with Perl's extensions on, the dialect that cel-go compiles: the same
patterns are refused, with the same words.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

Test = Callable[[str], bool]
"""Does one character belong to the class?"""

_MAX_REPEAT = 1000


class PatternError(ValueError):
    """A pattern RE2 does not accept."""

    def __init__(self, problem: str, part: str) -> None:
        super().__init__(f"error parsing regexp: {problem}: `{part}`")


@dataclass(frozen=True, slots=True)
class Chars:
    """One character that passes a test."""

    test: Test


@dataclass(frozen=True, slots=True)
class At:
    """A place: one of text-start, text-end, line-start, line-end, word and no-word."""

    place: str


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Either:
    options: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    part: "Tree"
    least: int
    most: int | None
    greedy: bool


Tree = Chars | At | Sequence | Either | Repeat

_ESCAPED_CHARS = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_PLACES = {"A": "text-start", "z": "text-end", "b": "word", "B": "no-word"}


def _ranges(*bounds: str) -> Test:
    pairs = [(pair[0], pair[-1]) for pair in bounds]
    return lambda char: any(low <= char <= high for low, high in pairs)


def _inverted(test: Test) -> Test:
    return lambda char: not test(char)


_DIGIT = _ranges("09")
_WORD = _ranges("09", "AZ", "az", "_")
_BLANK = _ranges("\t\n", "\f\r", " ")
_PERL_CLASSES = {"d": _DIGIT, "w": _WORD, "s": _BLANK}
_POSIX_CLASSES = {
    "alnum": _ranges("09", "AZ", "az"),
    "alpha": _ranges("AZ", "az"),
    "ascii": _ranges("\x00\x7f"),
    "blank": _ranges("\t", " "),
    "cntrl": _ranges("\x00\x1f", "\x7f"),
    "digit": _DIGIT,
    "graph": _ranges("!~"),
    "lower": _ranges("az"),
    "print": _ranges(" ~"),
    "punct": _ranges("!/", ":@", "[`", "{~"),
    "space": _ranges("\t\r", " "),
    "upper": _ranges("AZ"),
    "word": _WORD,
    "xdigit": _ranges("09", "AF", "af"),
}


def is_word(char: str) -> bool:
    return _WORD(char)


def parse_pattern(pattern: str) -> Tree:
    parser = _Parser(pattern)
    tree = parser.alternatives()
    if not parser.at_end():
        raise PatternError("unexpected )", pattern)
    return tree


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._flags = frozenset[str]()

    def at_end(self) -> bool:
        return self._at >= len(self._pattern)

    def _peek(self, length: int = 1) -> str:
        return self._pattern[self._at : self._at + length]

    def alternatives(self) -> Tree:
        options = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Either(tuple(options))

    def _sequence(self) -> Tree:
        parts: list[Tree] = []
        while not self.at_end() and self._peek() not in ("|", ")"):
            start = self._at
            part = self._atom()
            if part is not None:
                parts.append(self._repeated(part, start))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _atom(self) -> Tree | None:
        char = self._peek()
        self._at += 1
        match char:
            case "(":
                return self._group()
            case "[":
                return Chars(self._folded(self._char_class()))
            case ".":
                return Chars(lambda _: True) if "s" in self._flags else Chars(lambda c: c != "\n")
            case "^":
                return At("line-start" if "m" in self._flags else "text-start")
            case "$":
                return At("line-end" if "m" in self._flags else "text-end")
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise PatternError("missing argument to repetition operator", char)
            case _:
                return self._literal(char)

    def _literal(self, char: str) -> Chars:
        return Chars(self._folded(lambda c: c == char))

    def _folded(self, test: Test) -> Test:
        if "i" not in self._flags:
            return test
        return lambda c: test(c) or test(c.lower()) or test(c.upper())

    # groups and flags

    def _group(self) -> Tree | None:
        flags = self._flags
        if self._peek() == "?":
            opening = self._pattern[self._at - 1 :]
            if self._peek(3) == "?P<" or self._peek(2) == "?<":
                end = self._pattern.find(">", self._at)
                name = self._pattern[self._pattern.find("<", self._at) + 1 : end]
                if end < 0 or not name or not all(map(_WORD, name)):
                    raise PatternError("invalid named capture", opening)
                self._at = end + 1
            elif not self._read_flags(opening):
                return None
        tree = self.alternatives()
        if self._peek() != ")":
            raise PatternError("missing closing )", self._pattern)
        self._at += 1
        self._flags = flags
        return tree

    def _read_flags(self, opening: str) -> bool:
        """Flags after `(?`; true if a group follows, false if they hold for what comes next."""
        self._at += 1
        flags, adding, seen = set(self._flags), True, False
        while not self.at_end():
            char = self._peek()
            self._at += 1
            if char in "imsU":
                seen = True
                (flags.add if adding else flags.discard)(char)
            elif char == "-" and adding:
                adding, seen = False, False
            elif char in ":)" and (adding or seen):
                self._flags = frozenset(flags)
                return char == ":"
            else:
                break
        raise PatternError("invalid or unsupported Perl syntax", opening[: self._at])

    # repetition

    def _repeated(self, part: Tree, start: int) -> Tree:
        last_at: int | None = None
        while not self.at_end():
            operator_at = self._at
            bounds = self._bounds()
            if bounds is None:
                return part
            greedy = True
            if self._peek() == "?":
                self._at += 1
                greedy = False
            if last_at is not None:
                raise PatternError(
                    "invalid nested repetition operator", self._pattern[last_at : self._at]
                )
            if "U" in self._flags:
                greedy = not greedy
            last_at = operator_at
            part = Repeat(part, *bounds, greedy)
            if _size(part) > _MAX_REPEAT:
                raise PatternError("invalid repeat count", self._pattern[start : self._at])
        return part

    def _bounds(self) -> tuple[int, int | None] | None:
        char = self._peek()
        simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(char)
        if simple is not None:
            self._at += 1
            return simple
        if char != "{":
            return None
        end = self._pattern.find("}", self._at)
        least, comma, most = self._pattern[self._at + 1 : end].partition(",")
        if end < 0 or not _plain_number(least) or (most and not _plain_number(most)):
            return None
        low, high = int(least), (int(most) if most else None) if comma else int(least)
        if low > _MAX_REPEAT or (high or 0) > _MAX_REPEAT or (high is not None and high < low):
            raise PatternError("invalid repeat count", self._pattern[self._at : end + 1])
        self._at = end + 1
        return low, high

    # characters

    def _escape(self) -> Tree | None:
        letter = self._peek()
        if not letter:
            raise PatternError("trailing backslash at end of expression", "")
        if letter in _PLACES:
            self._at += 1
            return At(_PLACES[letter])
        if letter == "Q":
            end = self._pattern.find("\\E", self._at)
            text = self._pattern[self._at + 1 : end if end >= 0 else None]
            self._at = end + 2 if end >= 0 else len(self._pattern)
            parts = tuple(self._literal(char) for char in text)
            return Sequence(parts) if parts else None
        test = self._class_escape()
        if test is not None:
            return Chars(self._folded(test))
        return self._literal(self._char_escape())

    def _class_escape(self) -> Test | None:
        """`\\d`, `\\pL` and their kind, after the backslash; None if it is something else."""
        letter = self._peek()
        if letter.lower() in _PERL_CLASSES:
            self._at += 1
            test = _PERL_CLASSES[letter.lower()]
            return test if letter.islower() else _inverted(test)
        if letter not in ("p", "P"):
            return None
        self._at += 1
        name = self._peek()
        if name == "{":
            end = self._pattern.find("}", self._at)
            if end < 0:
                raise PatternError("invalid character class range", self._pattern)
            name = self._pattern[self._at + 1 : end]
            self._at = end + 1
        else:
            self._at += 1
        test = _category(name.removeprefix("^"))
        return test if (letter == "p") != name.startswith("^") else _inverted(test)

    def _char_escape(self) -> str:
        """The character an escape stands for, after the backslash."""
        start = self._at - 1
        letter = self._peek()
        self._at += 1
        if letter in _ESCAPED_CHARS:
            return _ESCAPED_CHARS[letter]
        if letter == "x":
            if self._peek() == "{":
                end = self._pattern.find("}", self._at)
                digits = self._pattern[self._at + 1 : max(end, 0)]
                self._at = end + 1
            else:
                digits = self._peek(2)
                self._at += 2
            if digits and all(d in "0123456789abcdefABCDEF" for d in digits):
                code = int(digits, 16)
                if code <= 0x10FFFF and (len(digits) > 2 or len(digits) == 2 or code < 16):
                    return chr(code)
        elif letter == "0" or (letter in "1234567" and self._peek() in tuple("01234567")):
            digits = letter
            while len(digits) < 3 and self._peek() in tuple("01234567"):
                digits += self._peek()
                self._at += 1
            return chr(int(digits, 8))
        elif letter and letter.isascii() and not letter.isalnum():
            return letter
        raise PatternError("invalid escape sequence", self._pattern[start : self._at])

    def _char_class(self) -> Test:
        opening = self._at - 1
        inverted = self._peek() == "^"
        if inverted:
            self._at += 1
        tests: list[Test] = []
        first = True
        while first or self._peek() != "]":
            if self.at_end():
                raise PatternError("missing closing ]", self._pattern[opening:])
            first = False
            tests.append(self._class_item())
        self._at += 1
        if inverted:
            return lambda char: not any(test(char) for test in tests)
        return lambda char: any(test(char) for test in tests)

    def _class_item(self) -> Test:
        if self._peek(2) == "[:":
            end = self._pattern.find(":]", self._at)
            if end >= 0:
                name = self._pattern[self._at + 2 : end]
                shown = self._pattern[self._at : end + 2]
                self._at = end + 2
                test = _POSIX_CLASSES.get(name.removeprefix("^"))
                if test is None:
                    raise PatternError("invalid character class range", shown)
                return _inverted(test) if name.startswith("^") else test
        start = self._at
        if self._peek() == "\\":
            self._at += 1
            found = self._class_escape()
            if found is not None:
                return found
            low = self._char_escape()
        else:
            low = self._peek()
            self._at += 1
        if self._peek() != "-" or self._peek(2) in ("-]", "-"):
            return lambda char: char == low
        self._at += 1
        if self._peek() == "\\":
            self._at += 1
            high = self._char_escape()
        else:
            high = self._peek()
            self._at += 1
        if high < low:
            raise PatternError("invalid character class range", self._pattern[start : self._at])
        return lambda char: low <= char <= high


def _plain_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")


def _category(name: str) -> Test:
    if name == "Any":
        return lambda _: True
    known = {"C", "L", "M", "N", "P", "S", "Z"}
    if name[:1] not in known or len(name) > 2:
        raise PatternError("invalid character class range", f"\\p{{{name}}}")
    return lambda char: unicodedata.category(char).startswith(name)


def _size(tree: Tree) -> int:
    """How many copies counted repetitions make of one part, at most."""
    match tree:
        case Repeat():
            times = max(tree.least, tree.most or 0, 1)
            return times * _size(tree.part)
        case Sequence():
            return max(map(_size, tree.parts), default=1)
        case Either():
            return max(map(_size, tree.options), default=1)
        case _:
            return 1
