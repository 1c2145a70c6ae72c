"""What is wrong with a text that is no YAML, in words that help to mend it.

libyaml reports the state of its scanner; people need the line and what to change. Known messages
get a remedy, unknown ones are passed on as they are.
"""

import yaml

from podium.golang.errors import InputError

_REMEDIES = (
    ("mapping values are not allowed", 'check the indentation, and quote text that contains ": "'),
    ("did not find expected key", "check the indentation of this line and of the one above"),
    ("did not find expected '-'", "check the indentation of this line and of the list above"),
    ("did not find expected ','", "close the bracket or brace, or quote the text"),
    ("unknown escape character", "write the backslash twice, or use single quotes"),
    ("did not find expected <document start>", "separate documents with a line that is ---"),
)
_TAB_REMEDY = "indent with spaces"


def explained(error: yaml.YAMLError, text: str, source: str) -> InputError:
    if isinstance(error, yaml.reader.ReaderError):
        line = text.encode()[: error.position].count(b"\n") + 1
        problem = f"character {chr(error.character)!r} is not allowed: {error.reason}"
        return InputError(problem, source=source, line=line)
    if not isinstance(error, yaml.MarkedYAMLError):
        return InputError(f"not YAML: {error}", source=source)

    problem = error.problem or "not YAML"
    mark = error.problem_mark
    if mark is None:
        return InputError(problem, source=source)
    line, remedy = mark.line + 1, ""
    if "unexpected end of stream" in problem and error.context_mark is not None:
        problem, remedy = "a quote is not closed", "add the closing quote"
        line = error.context_mark.line + 1
    elif "tab character" in problem:
        remedy = _TAB_REMEDY
    elif "cannot start any token" in problem:
        character = _character_at(text, mark)
        if character == "\t":
            problem, remedy = "a tab is used for indentation", _TAB_REMEDY
        else:
            problem = f'no value can start with "{character}"'
            remedy = "put the value in quotes"
    else:
        remedy = next((cure for known, cure in _REMEDIES if known in problem), "")
    return InputError(problem, source=source, line=line, remedy=remedy)


def _character_at(text: str, mark: yaml.Mark) -> str:
    lines = text.splitlines()
    return lines[mark.line][mark.column : mark.column + 1] if mark.line < len(lines) else ""
