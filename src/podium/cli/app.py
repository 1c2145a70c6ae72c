"""The `podium` command: its subcommands, and one meaning of exit codes for all of them.

Commands are named by import path and loaded when called, so that `podium --help` is quick.
"""

import sys
import traceback
from collections.abc import Sequence

from cyclopts import App, CycloptsError, Group

from podium import __version__
from podium.api.errors import InputError
from podium.cli.exit_codes import BAD_INPUT, BROKEN, INTERRUPTED, OK

_EPILOGUE = (
    "Exit codes: 0 yes, 1 no (some pod does not fit, decisions differ), 2 the input or the command"
    " line is wrong, 70 a bug in Podium."
)

_LOOK = Group("Look", sort_key=1)
_CHECK = Group("Check and measure", sort_key=2)
_SHELL = Group("Shell", sort_key=3)


def build_app() -> App:
    app = App(
        name="podium",
        help="A Kubernetes scheduler that decides as kube-scheduler does, and says why.",
        version=__version__,
        help_epilogue=_EPILOGUE,
        result_action="return_value",
    )
    app.command("podium.cli.bench:bench", name="bench", group=_CHECK)
    app.command("podium.cli.simulate:simulate", name="simulate", group=_LOOK)
    app.command("podium.cli.explain:explain", name="explain", group=_LOOK)
    app.command("podium.cli.completion:completion", name="completion", group=_SHELL)
    app.command("podium.cli.decide:decide", name="decide", group=_CHECK)
    app.command("podium.cli.parity:parity", name="parity", group=_CHECK)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and give back its exit code."""
    app = build_app()
    try:
        result = app(arguments, exit_on_error=False, print_error=True)
    except CycloptsError:
        return BAD_INPUT
    except InputError as problem:
        print(f"podium: {problem}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("podium: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return OK
    except Exception:
        traceback.print_exc()
        print("podium: this is a bug; please report it with the lines above", file=sys.stderr)
        return BROKEN
    return result if isinstance(result, int) else OK
