"""`podium run`: kube-scheduler's command line.

It is parsed by Podium's own reader of Go flags, so nothing of it goes through the option parser of
the other commands. Exit codes and what is printed where are kube-scheduler's: a command line that
cannot be understood gets the usage text and `Error: ...`, everything later is a line of the log.
"""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.commands.exit_codes import BAD_INPUT, NO, OK
from podium.commands.printing import print_line, print_lines
from podium.golang.quoting import go_quote, quoted_list

if TYPE_CHECKING:
    from podium.commands.processes.kube_log import KubeLog
    from podium.commands.processes.startup import PreparedScheduler
    from podium.kubernetes.releases.release import Release
    from podium.live.management import MakePage
    from podium.scheduler.config.flags.options import Options
    from podium.scheduler.config.flags.parser import ParsedFlags
    from podium.scheduler.config.flags.version_gates import SettledGates


def run(*arguments: Annotated[str, Parameter(allow_leading_hyphen=True)]) -> int:
    """Schedule in a cluster, with the command line of kube-scheduler.

    Takes every flag that kube-scheduler takes or ever took, and `--plugin` for plugins of your
    own. Runs until SIGTERM or Ctrl-C.

    **Examples**

    ```
    podium run --help
    podium run --kubeconfig ~/.kube/config --leader-elect=false
    podium run --config scheduler.yaml --plugin mine.py --ui
    podium run --config scheduler.yaml --write-config-to effective.yaml --secure-port=0
    ```

    **Exit code** 0 after a signal, or 1 if the scheduler cannot start or loses its lease.
    """
    from podium.kubernetes.releases.release import release
    from podium.scheduler.config.flags.options import options_of
    from podium.scheduler.config.flags.parser import FlagError, parse_flags

    known = release()
    try:
        parsed = parse_flags(arguments, known)
    except FlagError as problem:
        from podium.scheduler.config.flags.parser import usage_text

        print_lines(usage_text(_columns(sys.stderr.isatty())).split("\n"), error=True)
        print_line(f"Error: {problem}", error=True)
        return NO
    options = options_of(parsed)
    if options.help:
        from podium.scheduler.config.flags.parser import help_text

        print_lines(help_text(_columns(sys.stdout.isatty())).removesuffix("\n").split("\n"))
        return OK
    if any(options.positional):
        listed = quoted_list(options.positional)
        print_line(f'Error: "kube-scheduler" does not take any arguments, got {listed}', error=True)
        return NO
    return _settle(parsed, options, known)


def _settle(parsed: ParsedFlags, options: Options, known: Release) -> int:
    """Find out which release and which gates count, and start a scheduler if that is asked for."""
    from podium.commands.processes.kube_log import KubeLog
    from podium.kubernetes.releases.feature_gates import FeatureGateError
    from podium.scheduler.config.errors import ConfigurationError, join_problems
    from podium.scheduler.config.flags.client_settings import StartRefused
    from podium.scheduler.config.flags.option_checks import logging_problems
    from podium.scheduler.config.flags.version_gates import settled_gates
    from podium.scheduler.config.load import EMPTY

    try:
        settled = settled_gates(options.versions, known, strict=options.strict)
    except FeatureGateError as problem:
        KubeLog().error("command failed", err=str(problem))
        return NO
    if options.version in ("true", "raw"):
        raw = options.version == "raw"
        print_line(_version_struct(known) if raw else f"Kubernetes {known.patch}")
        return OK
    problems = logging_problems(options.logs, settled.gates)
    if problems:
        print_line(join_problems(problems), error=True)
        return NO
    log = KubeLog(options.logs)
    try:
        return _start(parsed, options, settled, log)
    except (StartRefused, ConfigurationError) as problem:
        text = problem.message if isinstance(problem, ConfigurationError) else str(problem)
        if isinstance(problem, ConfigurationError) and problem.remedy == EMPTY:
            log.note(f"{options.config}: {EMPTY}")  # the error itself is kube-scheduler's
        log.error("command failed", err=text)
        return NO


def _start(parsed: ParsedFlags, options: Options, settled: SettledGates, log: KubeLog) -> int:
    """Raises StartRefused or ConfigurationError."""
    from podium.commands.processes.startup import (
        check_election,
        prepare_scheduler,
        write_configuration,
    )
    from podium.scheduler.config.flags.definitions import by_name, scheduler_flags
    from podium.scheduler.config.flags.notices import idle_notes, legacy_warnings

    known = by_name(scheduler_flags(settled.gates.release))
    flags = {name: known[name].kind.shown(parsed.values[name]) for name in sorted(known)}
    for name, shown in flags.items():
        log.note(f"FLAG: --{name}={go_quote(shown)}", v=1)
    for text in legacy_warnings(parsed.given, options):
        log.warn(text)
    for text in settled.warnings:
        log.warn(text)
    for text in idle_notes(parsed.given):
        log.note(text)
    for text, gate, value in settled.notes:
        log.info(text, featureGate=gate, value=value)
    prepared = prepare_scheduler(options, settled, log)
    write_configuration(prepared.configuration, options.write_config_to, log)
    if options.write_config_to:
        return OK
    check_election(prepared.configuration)
    return _schedule(prepared, options, settled, log, flags)


def _schedule(
    prepared: PreparedScheduler,
    options: Options,
    settled: SettledGates,
    log: KubeLog,
    flags: Mapping[str, str],
) -> int:
    from podium.commands.processes import event_loop
    from podium.commands.processes.run_scheduler import LeadershipLost, run_scheduler
    from podium.scheduler.framework.faults import QueueOrderBroken

    try:
        reached_by = prepared.configuration.client_connection.kubeconfig
        page = _page_maker(reached_by) if options.ui else None
        event_loop.run(run_scheduler(prepared, options, settled.gates, log, flags, page))
    except LeadershipLost as problem:
        log.error("Leaderelection lost", err=str(problem))
        return NO
    except QueueOrderBroken as problem:
        log.error("command failed", err=str(problem))
        return BAD_INPUT
    return OK


def _page_maker(kubeconfig: str) -> MakePage:
    from podium.web.live_page import mounted_page

    return lambda parts: mounted_page(parts, kubeconfig)


def _version_struct(known: Release) -> str:
    """The version as Go prints a struct; what Podium has no word for is empty."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    fields = {
        "Major": str(known.version.major),
        "Minor": str(known.version.minor),
        "EmulationMajor": "",
        "EmulationMinor": "",
        "MinCompatibilityMajor": "",
        "MinCompatibilityMinor": "",
        "GitVersion": known.patch,
        "GitCommit": "",
        "GitTreeState": "",
        "BuildDate": "",
        "GoVersion": "",
        "Compiler": f"{platform.python_implementation()} {platform.python_version()}",
        "Platform": f"{platform.system().lower()}/{machine}",
    }
    return f"version.Info{{{', '.join(f'{name}:{go_quote(v)}' for name, v in fields.items())}}}"


def _columns(on_terminal: bool) -> int:
    """The width to wrap usage to; what is not for a screen is not wrapped."""
    return shutil.get_terminal_size().columns if on_terminal else 0
