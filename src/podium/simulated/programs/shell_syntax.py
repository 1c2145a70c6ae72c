"""Lines of a shell as a tree: commands, how they are joined, `if`, `while` and `until`.

Only what tests of clusters are made of is read. Pipes, jobs in the background, functions, patterns
and input from files are not: whoever meets them says `NotUnderstood`, and nothing is guessed.

>>> parse("sleep 1; exit 2")[1].command
Simple(words=((Text(text='exit'),), (Text(text='2'),)), written=())
"""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

_OPERATOR: Final = re.compile(r"&&|\|\||;|\n|>>|>")
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ARITHMETIC: Final = re.compile(r"\$\(\((.*?)\)\)", re.DOTALL)
_PLAIN: Final = re.compile(r"[^\s'\"\\$`|&;<>(){}*?!#]+")
_LONE: Final = frozenset("{}!")
"""Words of their own where they are alone."""
_KEYWORDS: Final = frozenset({"if", "then", "elif", "else", "fi", "while", "until", "do", "done"})
_MAX_DEPTH: Final = 16


class NotUnderstood(Exception):
    """The program is none of those that are known."""


class ShellText(NamedTuple):
    text: str


class Variable(NamedTuple):
    name: str


class Arithmetic(NamedTuple):
    text: str


class Substitution(NamedTuple):
    commands: "Commands"


Word = tuple[ShellText | Variable | Arithmetic | Substitution, ...]


class Simple(NamedTuple):
    words: tuple[Word, ...]
    written: tuple[Word, ...] = ()
    """Files that its output goes to."""


class If(NamedTuple):
    branches: "tuple[tuple[Commands, Commands], ...]"
    otherwise: "Commands"


class Loop(NamedTuple):
    condition: "Commands"
    body: "Commands"
    until: bool


class ShellStep(NamedTuple):
    joint: str
    """What is before it: `;`, `&&` or `||`."""
    command: Simple | If | Loop


Commands = tuple[ShellStep, ...]


def parse(text: str, depth: int = 0) -> Commands:
    """Raises NotUnderstood."""
    if depth > _MAX_DEPTH:
        raise NotUnderstood
    parser = _Parser(_Lexer(text, depth).tokens(), depth)
    commands = parser.commands()
    if parser.place < len(parser.tokens):
        raise NotUnderstood
    return commands


# --- from characters to words -------------------------------------------------------------------


@dataclass(slots=True)
class _Lexer:
    text: str
    depth: int
    at: int = 0

    def tokens(self) -> list[str | Word]:
        """Operators are texts, words are tuples."""
        found: list[str | Word] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in " \t\r":
                self.at += 1
            elif character == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif match := _OPERATOR.match(self.text, self.at):
                self.at = match.end()
                found.append(match[0])
            else:
                found.append(self._word())
        return found

    def _word(self) -> Word:
        parts: list[ShellText | Variable | Arithmetic | Substitution] = []
        begun = self.at
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in " \t\r\n;" or _OPERATOR.match(self.text, self.at):
                break
            if character == "'":
                end = self._find("'", self.at + 1)
                parts.append(ShellText(self.text[self.at + 1 : end]))
                self.at = end + 1
            elif character == '"':
                parts += self._read_quoted()
            elif character == "$":
                parts.append(self._dollar())
            elif character == "\\":
                parts.append(ShellText(self.text[self.at + 1 : self.at + 2]))
                self.at += 2
            elif match := _PLAIN.match(self.text, self.at):
                parts.append(ShellText(match[0]))
                self.at = match.end()
            elif character in _LONE and self.at == begun:
                parts.append(ShellText(character))
                self.at += 1
            else:
                raise NotUnderstood
        return tuple(parts)

    def _read_quoted(self) -> list[ShellText | Variable | Arithmetic | Substitution]:
        parts: list[ShellText | Variable | Arithmetic | Substitution] = [ShellText("")]
        self.at += 1
        while True:
            character = self.text[self.at : self.at + 1]
            if character in ("", "`"):
                raise NotUnderstood
            if character == '"':
                self.at += 1
                return parts
            if character == "$":
                parts.append(self._dollar())
                continue
            if character == "\\":
                self.at += 1
            parts.append(ShellText(self.text[self.at : self.at + 1]))
            self.at += 1

    def _dollar(self) -> ShellText | Variable | Arithmetic | Substitution:
        if match := _ARITHMETIC.match(self.text, self.at):
            self.at = match.end()
            return Arithmetic(match[1])
        if match := _VARIABLE.match(self.text, self.at):
            self.at = match.end()
            return Variable(match[1] or match[2])
        if self.text.startswith("$(", self.at):
            end = self._find_closing(self.at + 2)
            inner = parse(self.text[self.at + 2 : end], self.depth + 1)
            self.at = end + 1
            return Substitution(inner)
        raise NotUnderstood

    def _find_closing(self, begin: int) -> int:
        open_count = 1
        for place in range(begin, len(self.text)):
            open_count += {"(": 1, ")": -1}.get(self.text[place], 0)
            if not open_count:
                return place
        raise NotUnderstood

    def _find(self, mark: str, begin: int) -> int:
        end = self.text.find(mark, begin)
        if end < 0:
            raise NotUnderstood
        return end


# --- from words to commands ---------------------------------------------------------------------


@dataclass(slots=True)
class _Parser:
    tokens: list[str | Word]
    depth: int
    place: int = 0

    def commands(self, *ends: str) -> Commands:
        """Up to one of the keywords, or to the end of the text."""
        steps: list[ShellStep] = []
        joint, is_after_command = ";", False
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            if isinstance(token, str):
                if token in (">", ">>") or (token in ("&&", "||") and not is_after_command):
                    raise NotUnderstood
                joint = token if token in ("&&", "||") else joint
                is_after_command = False
                self.place += 1
                continue
            if self._keyword() in ends:
                break
            steps.append(ShellStep(joint, self._command()))
            joint, is_after_command = ";", True
        if joint != ";":
            raise NotUnderstood
        return tuple(steps)

    def _keyword(self) -> str:
        """The keyword that is here; empty if none does."""
        token = self.tokens[self.place] if self.place < len(self.tokens) else ""
        if isinstance(token, tuple) and len(token) == 1 and isinstance(token[0], ShellText):
            return token[0].text if token[0].text in _KEYWORDS else ""
        return ""

    def _expect(self, keyword: str) -> None:
        if self._keyword() != keyword:
            raise NotUnderstood
        self.place += 1

    def _command(self) -> Simple | If | Loop:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise NotUnderstood
        try:
            keyword = self._keyword()
            if keyword == "if":
                return self._if()
            if keyword in ("while", "until"):
                return self._loop(until=keyword == "until")
            if keyword:
                raise NotUnderstood
            return self._simple()
        finally:
            self.depth -= 1

    def _if(self) -> If:
        branches: list[tuple[Commands, Commands]] = []
        while self._keyword() in ("if", "elif"):
            self.place += 1
            condition = self.commands("then")
            self._expect("then")
            branches.append((condition, self.commands("elif", "else", "fi")))
        otherwise: Commands = ()
        if self._keyword() == "else":
            self.place += 1
            otherwise = self.commands("fi")
        self._expect("fi")
        return If(tuple(branches), otherwise)

    def _loop(self, *, until: bool) -> Loop:
        self.place += 1
        condition = self.commands("do")
        self._expect("do")
        body = self.commands("done")
        self._expect("done")
        return Loop(condition, body, until)

    def _simple(self) -> Simple:
        words: list[Word] = []
        written: list[Word] = []
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            if isinstance(token, tuple):
                words.append(token)
            elif token in (">", ">>") and self.place + 1 < len(self.tokens):
                self.place += 1
                target = self.tokens[self.place]
                if not isinstance(target, tuple):
                    raise NotUnderstood
                written.append(target)
            else:
                break
            self.place += 1
        if not words:
            raise NotUnderstood
        return Simple(tuple(words), tuple(written))
