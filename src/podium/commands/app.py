"""The `podium` command: its subcommands, and one meaning of exit codes for all of them.

Commands are named by import path and loaded when called, so that `podium --help` is quick.
"""

import gc
import os
import shlex
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from cyclopts import App, CycloptsError, Group
from cyclopts.exceptions import UnusedCliTokensError

from podium import __version__
from podium.commands.exit_codes import BAD_INPUT, BROKEN, CANNOT_WRITE, INTERRUPTED, OK
from podium.commands.line_logging import guard_last_resort
from podium.commands.output_streams import LastingStreams
from podium.commands.printing import print_line, print_lines, print_traceback
from podium.golang.errors import InputError

_HELP = """A Kubernetes scheduler that decides as kube-scheduler does, and says why.

**Examples**

```
podium simulate -f cluster.yaml -f pods.yaml         where would they go?
podium explain web-0 -f cluster.yaml -f pods.yaml    why there?
podium why web-0 -f cluster.yaml -f pods.yaml        what would make it fit?
podium story web-0 -f cluster.yaml -f pods.yaml      what happened to it?
podium explain --help                                more about a command
```
"""
_EPILOGUE = (
    "Exit codes: 0 yes, 1 no (some pod does not fit, decisions differ), 2 the input or the command"
    " line is wrong, 70 a bug in Podium, 74 the answer cannot be written, 130 interrupted."
)

_PATIENCE_S = 5.0
"""How long a process that is done waits for threads of plugins."""

_LOOK = Group("Look", sort_key=1)
_CHECK = Group("Check and measure", sort_key=2)
_SERVE = Group("Serve", sort_key=3)
_SHELL = Group("Shell and help", sort_key=4)

# Summaries stand here because commands are not loaded for the overview; a command's own help is
# its docstring.
COMMANDS = (
    ("simulate", "podium.commands.simulate:simulate", _LOOK, "Place pods on a cluster from files."),
    ("explain", "podium.commands.explain:explain", _LOOK, "Tell why a pod goes where it goes."),
    ("pending", "podium.commands.pending:pending", _LOOK, "Tell what waits, and what to do first."),
    ("why", "podium.commands.why:why", _LOOK, "Tell what would make a pending pod fit."),
    ("story", "podium.commands.story:story", _LOOK, "Tell everything that happened to a pod."),
    ("capacity", "podium.commands.capacity:capacity", _LOOK, "Count how many more of a pod fit."),
    (
        "what-if",
        "podium.commands.what_if:what_if",
        _LOOK,
        "Tell what a change of the cluster would do.",
    ),
    (
        "compare",
        "podium.commands.compare:compare",
        _LOOK,
        "Compare scheduler configurations on the same pods.",
    ),
    ("record", "podium.commands.record:record", _LOOK, "Record what happens in a cluster."),
    ("replay", "podium.commands.replay:replay", _LOOK, "Decide a recorded cluster anew."),
    (
        "sweep",
        "podium.commands.sweep:sweep",
        _LOOK,
        "Run many inputs, configurations and seeds.",
    ),
    (
        "scenario",
        "podium.commands.scenario:scenario",
        _LOOK,
        "Run days of arrivals, failures and scaling.",
    ),
    (
        "optimum",
        "podium.commands.optimum:optimum",
        _LOOK,
        "Tell how good the scheduler's placement is.",
    ),
    (
        "rebalance",
        "podium.commands.rebalance:rebalance",
        _LOOK,
        "Propose the fewest moves that reach a goal.",
    ),
    ("gpu", "podium.commands.gpu:gpu", _LOOK, "Show GPUs, who shares them, and what is free."),
    (
        "dump-command",
        "podium.commands.dump_command:dump_command",
        _LOOK,
        "Print how to write a cluster into a file.",
    ),
    ("config", "podium.commands.config:config", _CHECK, "Check, show and convert configurations."),
    ("plugin", "podium.commands.plugin:plugin", _CHECK, "Write, try out and list plugins."),
    ("bench", "podium.commands.bench:bench", _CHECK, "Measure the engine."),
    ("study", "podium.commands.study:study", _CHECK, "Compare policies over many runs."),
    ("decide", "podium.commands.decide:decide", _CHECK, "Decide recorded cases."),
    ("parity", "podium.commands.parity:parity", _CHECK, "Compare decisions with recorded ones."),
    ("up", "podium.commands.up:up", _SERVE, "Run a whole cluster, scheduler included."),
    ("run", "podium.commands.run:run", _SERVE, "Take kube-scheduler's command line."),
    ("apiserver", "podium.commands.apiserver:apiserver", _SERVE, "Serve the Kubernetes API."),
    ("nodes", "podium.commands.nodes:nodes", _SERVE, "Simulate nodes and controllers."),
    (
        "controller",
        "podium.commands.controller:controller",
        _SERVE,
        "Run a controller that a plugin needs.",
    ),
    ("extender", "podium.commands.extender:extender", _SERVE, "Serve a scheduler extender."),
    (
        "image-service",
        "podium.commands.image_service:image_service",
        _SERVE,
        "Tell which images a node holds.",
    ),
    (
        "completion",
        "podium.commands.completion:completion",
        _SHELL,
        "Complete commands in a shell.",
    ),
)


def build_app(
    *, overview: bool = False, commands: Mapping[str, Callable[..., Any]] | None = None
) -> App:
    """The command line; as an `overview` it has summaries in place of the commands' own help.
    `commands` stand in for those of their names."""
    app = App(
        name="podium",
        help=_HELP,
        version=__version__,
        help_epilogue=_EPILOGUE,
        result_action="return_value",
        suppress_keyboard_interrupt=False,  # it would end the process without a word
        group_commands=_SHELL,
    )
    for name, path, group, summary in COMMANDS:
        if commands and name in commands:
            app.command(commands[name], name=name, group=group)
        elif overview:
            app.command(path, name=name, group=group, help=summary)
        else:
            app.command(path, name=name, group=group)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and give back its exit code."""
    streams = LastingStreams()
    try:
        code = _run(arguments)
    finally:
        gc.unfreeze()  # what a command has put aside is of no use any more
    problem = streams.problem()
    if problem:
        print_line(f"podium: standard output cannot be written: {problem}", error=True)
        code = code if code in (BAD_INPUT, BROKEN, INTERRUPTED) else CANNOT_WRITE
    if arguments is None:
        _end_in_time(code)
    return code


def _end_in_time(code: int) -> None:
    """Threads that plugins have started and left keep no process that has nothing left to do.
    Python waits for those that are no daemons; a daemon ends that wait."""
    main_thread = threading.main_thread()
    if all(thread.daemon or thread is main_thread for thread in threading.enumerate()):
        return

    def end() -> None:
        time.sleep(_PATIENCE_S)
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(code)

    threading.Thread(target=end, daemon=True).start()


def _run(arguments: Sequence[str] | None) -> int:
    guard_last_resort()
    words = sys.argv[1:] if arguments is None else list(arguments)
    words = _as_options(words)
    app = build_app(overview=not words or words[0] in ("-h", "--help"), commands=_stand_ins(words))
    try:
        if words[:1] == ["run"]:
            # kube-scheduler's flags have forms of their own; not a word of them is parsed here.
            from podium.commands.run import run

            return run(*words[1:])
        result = app(words, exit_on_error=False, print_error=False)
    except CycloptsError as problem:
        _tell_usage_error(problem)
        return BAD_INPUT
    except InputError as problem:
        print_lines((f"podium: {problem.lines[0]}", *problem.lines[1:]), error=True)
        return BAD_INPUT
    except KeyboardInterrupt:
        print_line("podium: interrupted", error=True)
        return INTERRUPTED
    except Exception as problem:
        _tell_bug(problem)
        return BROKEN
    return result if isinstance(result, int) else OK


def _stand_ins(words: Sequence[str]) -> Mapping[str, Callable[..., None]]:
    """What stands for the commands if none of them is called, and only their names are asked for:
    to find one like a word that is none, cyclopts loads them all."""
    names = [name for name, *_ in COMMANDS]
    if not words or words[0] in ("-h", "--help", *names):
        return {}
    return dict.fromkeys(names, lambda: None)


def _as_options(words: list[str]) -> list[str]:
    """`podium help simulate` is `podium simulate --help`, and `podium version` what it says."""
    match words:
        case ["help", *rest]:
            return [*rest, "--help"]
        case ["version"]:
            return ["--version"]
    return words


def _tell_usage_error(problem: CycloptsError) -> None:
    text = str(problem)
    if isinstance(problem, UnusedCliTokensError):
        text = f"unexpected argument: {shlex.join(problem.unused_tokens or ())}"
    print_line(f"podium: {text[:1].lower()}{text[1:]}", error=True)


def _tell_bug(problem: Exception) -> None:
    """What only a bug can cause: where it was, and if `--validate` found it, what is broken."""
    from podium.scheduler.engine.validation import InvariantBroken

    print_traceback("".join(traceback.format_exception(problem)))
    if isinstance(problem, InvariantBroken):
        whose = f", in the cycle of pod {problem.pod}" if problem.pod else ""
        print_line(f"podium: the state is broken after {problem.transition}{whose}:", error=True)
        print_lines((f"  - {broken}" for broken in problem.broken), error=True)
    print_line("podium: this is a bug; please report it with the lines above", error=True)
