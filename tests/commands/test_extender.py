"""`podium extender serve`: which class is served, and what is wrong before it starts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands.command_line import EXAMPLES, podium

from podium.addons.extenders import Extender
from podium.addons.extenders.serving import Listening
from podium.golang.errors import InputError
from podium.user_code.extenders import load_extender

EXAMPLE = str(EXAMPLES / "extenders" / "rack_power.py")

HEADER = "from podium.addons.extenders import Extender\n"
ONE = HEADER + "class One(Extender):\n    def bind(self, *_): pass\n"
TWO = ONE + "class Two(One): pass\n"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    return tmp_path / "code.py"


def refusal(spec: object) -> str:
    with pytest.raises(InputError) as caught:
        load_extender(str(spec))
    return str(caught.value)


def test_the_only_extender_of_a_file_needs_no_name(code: Path) -> None:
    code.write_text(ONE)
    assert load_extender(str(code)).__name__ == "One"
    assert load_extender(f"{code}:One").__name__ == "One"
    assert load_extender(EXAMPLE).__name__ == "RackPower"


def test_one_of_several_has_to_be_named(code: Path) -> None:
    code.write_text(TWO)
    assert load_extender(f"{code}:Two").__name__ == "Two"
    assert refusal(code) == f"{code}: holds 2 extenders: One, Two; say which: {code}:One"


def test_what_is_not_there_is_told(code: Path) -> None:
    code.write_text(TWO)
    assert refusal(f"{code}:Tow") == f"{code}: has no class Tow; there is One, Two"
    assert refusal(f"{code}:one") == f"{code}: has no class one; did you mean One?"
    code.with_name("other.py").write_text("class Plain: pass\n")
    other = code.with_name("other.py")
    assert refusal(other).endswith(
        "an extender is a class that inherits podium.addons.extenders.Extender"
    )
    assert "Plain is not an extender" in refusal(f"{other}:Plain")
    assert refusal("no.such.module:X") == "extender no.such.module: no module named no"
    assert "neither a file nor a module" in refusal("a b")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class One(:\n", "(line 1)"),
        ("import nonsense_that_is_not_there\n", "cannot be loaded"),
    ],
)
def test_code_that_does_not_load_is_told(code: Path, text: str, said: str) -> None:
    code.write_text(text)
    assert refusal(code).startswith(str(code))
    assert said in refusal(code) or "line 1" in refusal(code)


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        (HEADER + "class One(Extender): pass\n", (), "One serves nothing; write filter, priorit"),
        (
            ONE + "    def __init__(self): self.x = 1 / 0\n",
            (),
            "One: line 4: cannot be loaded: ZeroDivisionError",
        ),
        (ONE, ("--tls-cert", "missing.crt"), "missing.crt: there is no such file"),
        (ONE, ("--tls-cert", EXAMPLE), "a certificate and its key belong together"),
        (ONE, ("--tls-cert", EXAMPLE, "--tls-key", EXAMPLE), "the certificates cannot be used"),
        (ONE, ("--client-ca", EXAMPLE), "client certificates need TLS"),
        (ONE, ("--port", "70000"), "70000 is no port: they go from 0 to 65535"),
        (ONE, ("--host", "192.0.2.1", "--port", "0"), "cannot listen on 192.0.2.1:0: cannot assig"),
        (ONE, ("--max-request-mib", "0"), "--max-request-mib must be at least 1"),
    ],
)
def test_what_cannot_be_served_is_told(
    capsys: pytest.CaptureFixture[str], code: Path, text: str, arguments: tuple[str, ...], said: str
) -> None:
    code.write_text(text)
    done = podium(capsys, "extender", "serve", str(code), *arguments)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(("host", "is_told"), [("0.0.0.0", True), ("127.0.0.1", False)])
def test_whoever_serves_to_all_without_tls_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, host: str, *, is_told: bool
) -> None:
    def announce_only(_: Extender, listening: Listening, announce: Callable[[str], None]) -> None:
        announce(listening.url(1))

    monkeypatch.setattr("podium.addons.extenders.serving.serve", announce_only)

    done = podium(capsys, "extender", "serve", EXAMPLE, "--host", host)

    assert done.out == f"RackPower serves filter, prioritize on http://{host}:1\n"
    assert ("answers whoever reaches 0.0.0.0, in plain text" in done.err) is is_told
