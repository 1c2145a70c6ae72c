"""From options to a scheduler that could run: every step in kube-scheduler's order.

The order is the contract. Of several mistakes only the first is told, so which one an operator
sees depends on what is looked at first: the options themselves, the configuration, the API server,
the port and its certificates, the clients and the lock, and last the profiles.

Source: `cmd/kube-scheduler/app/server.go` (`Setup`).
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from podium.commands.processes.config_map_reading import config_map_reader
from podium.commands.processes.host_environment import LocalHost, check_port
from podium.commands.processes.kube_log import KubeLog
from podium.golang.errors import InputError
from podium.scheduler.config.buildable import find_unasked, find_unworkable
from podium.scheduler.config.effective import effective, effective_yaml
from podium.scheduler.config.errors import FieldProblem, join_problems
from podium.scheduler.config.flags.client_settings import (
    ClientSettings,
    StartRefused,
    client_settings,
)
from podium.scheduler.config.flags.notices import configuration_notices, policy_notices
from podium.scheduler.config.flags.option_checks import (
    client_problem,
    elector_problem,
    header_warnings,
    lock_problem,
    option_problems,
)
from podium.scheduler.config.flags.options import Options
from podium.scheduler.config.flags.precedence import complete_configuration, read_configuration
from podium.scheduler.config.flags.tls_checks import (
    check_authentication,
    check_authorization,
    check_own_certificate,
    check_tls,
)
from podium.scheduler.config.flags.version_gates import SettledGates, alpha_warning
from podium.scheduler.config.merge import PointLists, expand_profiles
from podium.scheduler.config.types import Configuration, ExtensionPoint, Plugins
from podium.scheduler.framework.registry import PluginRegistry
from podium.scheduler.plugins import in_tree_registry
from podium.user_code.plugins import Equipped, equip
from podium.user_code.time_limits import limit_calls


@dataclass(frozen=True, slots=True)
class PreparedScheduler:
    """Everything a scheduler is told, the API server it is for, and those that are asked about
    whoever reads its endpoints."""

    configuration: Configuration
    registry: PluginRegistry
    client: ClientSettings
    authentication: ClientSettings | None
    authorization: ClientSettings | None
    written: Configuration
    """The configuration without what plugins of the user's own have added to it."""


def prepare_scheduler(options: Options, settled: SettledGates, log: KubeLog) -> PreparedScheduler:
    """Raises StartRefused or ConfigurationError."""
    host = LocalHost()
    _check_options(options, settled, host, log)
    serves = options.secure_serving.secure_port != 0
    if serves:
        check_own_certificate(options.secure_serving, host)
    configuration = read_configuration(options, settled.gates, host)
    for text in configuration_notices(configuration, options):
        log.warn(text)
    kubeconfig = configuration.client_connection.kubeconfig
    client = client_settings(kubeconfig, options.master, host, log.warn)
    authentication = authorization = None
    if serves:
        check_port(options.secure_serving)
        check_tls(options.secure_serving, host)
        authentication = check_authentication(options.authentication, host, log.warn)
        authorization = check_authorization(options.authorization, host, log.warn)
    _refuse_for(client_problem(configuration.client_connection, client))
    _refuse_for(lock_problem(configuration.leader_election))
    read_map = config_map_reader(client, kubeconfig)
    written = complete_configuration(configuration, options, settled.gates, host, read_map)
    for text in policy_notices(configuration, written, options):
        log.warn(text)
    configuration = written
    limit_calls(options.plugin_timeout.seconds)
    configuration, registry, notes = _load_plugins(configuration, options.plugin)
    for text in notes:
        log.note(text)
    expanded = expand_profiles(configuration, registry.implements, registry.__contains__)
    if not options.write_config_to:
        for found in find_unworkable(expanded, registry.builds_on):
            log.warn(found.warning(options.config))
        for found in find_unasked(configuration.extenders):
            log.warn(found.warning(options.config or options.legacy.policy_config_file))
    for lists in expanded.values():
        message = "the scheduler starts to work with those plugins"
        log.info(message, v=2, Plugins=_as_go(lists))
    return PreparedScheduler(
        configuration, registry, client, authentication, authorization, written
    )


def with_plugins_loaded(prepared: PreparedScheduler, plugins: Sequence[str]) -> PreparedScheduler:
    """The same with plugins as their files are now. Raises StartRefused."""
    configuration, registry, _ = _load_plugins(prepared.written, plugins)
    return replace(prepared, configuration=configuration, registry=registry)


def write_configuration(configuration: Configuration, path: str, log: KubeLog) -> None:
    """The effective configuration into the log and a file, if they are to have it."""
    if not path and log.verbosity < 2:
        return
    qps = configuration.client_connection.qps
    if not math.isfinite(qps):
        shown = "NaN" if math.isnan(qps) else f"{qps:+}".replace("inf", "Inf")
        raise StartRefused(f"json: unsupported value: {shown}")
    text = effective_yaml(_as_unicode(effective(configuration)))
    log.info("Using component config", v=2, config=text)
    if path:
        LocalHost().write(path, text)
        log.info("Wrote configuration", file=path)


def check_election(configuration: Configuration) -> None:
    """What shows only when an election begins. Raises StartRefused."""
    _refuse_for(elector_problem(configuration.leader_election))


def _check_options(options: Options, settled: SettledGates, host: LocalHost, log: KubeLog) -> None:
    if settled.alpha:
        log.warn(alpha_warning(settled.alpha))
    for text in header_warnings(options.authentication):
        log.warn(text)
    problems = [*settled.problems, *option_problems(options, settled.gates, host)]
    if problems:
        raise StartRefused(join_problems(FieldProblem("", text) for text in problems))


def _load_plugins(configuration: Configuration, plugins: Sequence[str]) -> Equipped:
    try:
        return equip(configuration, in_tree_registry(), plugins)
    except InputError as problem:
        raise StartRefused(str(problem)) from None


def _refuse_for(problem: str) -> None:
    if problem:
        raise StartRefused(problem)


def _as_unicode(document: dict[str, Any]) -> dict[str, Any]:
    """The document with U+FFFD for every byte of a flag that is no UTF-8, as Go's JSON has it."""
    text = json.dumps(document, ensure_ascii=False).encode(errors="surrogateescape")
    readable: dict[str, Any] = json.loads(text.decode(errors="replace"))
    return readable


def _as_go(lists: PointLists) -> dict[str, Any]:
    """The plugins of a profile as upstream logs them: internal names, nothing left out."""
    shown: dict[str, Any] = {}
    for field in Plugins.__struct_fields__:
        name = "".join(part.capitalize() for part in field.split("_"))
        point = ExtensionPoint.__members__.get(field.upper())
        listed = [
            {"Name": plugin.name, "Weight": plugin.weight if point and point.is_weighted else 0}
            for plugin in (lists[point] if point else ())
        ]
        shown[name] = {"Enabled": listed or None, "Disabled": None}
    return shown
