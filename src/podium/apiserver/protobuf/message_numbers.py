"""Reads the data in `numbers`: which number a field has in its message."""

from dataclasses import dataclass
from functools import cache

from podium.apiserver.protobuf.numbers import TEXTS


@dataclass(frozen=True, slots=True)
class NumberedField:
    number: int
    name: str
    inline: str = ""
    """The message whose fields stand under this number, though JSON has none of that name."""


@cache
def _messages() -> dict[tuple[str, str], tuple[NumberedField, ...]]:
    found: dict[tuple[str, str], tuple[NumberedField, ...]] = {}
    for text in TEXTS:
        section = ""
        for line in text.replace("\n    ", " ").splitlines():
            if line.startswith("["):
                section = line.strip("[]")
            elif line:
                message, *words = line.split()
                found[section, message] = tuple(_numbered(words))
    return found


def _numbered(words: list[str]) -> list[NumberedField]:
    fields: list[NumberedField] = []
    number = 1
    for word in words:
        if word.isdigit():
            number = int(word)
            continue
        inline = word[1:] if word.startswith("~") else ""
        fields.append(NumberedField(number, word, inline))
        number += 1
    return fields


def fields_of_message(section: str, message: str) -> tuple[NumberedField, ...]:
    """The fields of a message in the order of their numbers; none if it is not known."""
    return _messages().get((section, message), ())
