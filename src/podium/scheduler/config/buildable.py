"""What is valid and still fails, or does nothing, when the scheduler puts its parts together.

Upstream builds extenders first, then the profiles, and stops at the first failure. What depends on
the plugins themselves is checked by `merge.py`; here is the rest, as far as values can tell: files
are not opened, and whether a certificate can be used is known when it is.

Plugins that are listed so that kube-scheduler fails every pod. Upstream takes any list of plugins
that exist. A plugin that filters by what its PreFilter worked out, with the PreFilter switched off
(`disabled: [{name: "*"}]` at preFilter is all it takes), finds nothing there and ends every attempt
with an error. kube-scheduler starts with such a list and places nothing. A profile here has such a
plugin pass the point all the same (scheduler/framework/profile.py), and the list is told of,
because it is no good elsewhere.

Extenders that are listed and that no scheduler ever asks. Upstream takes an extender whose verbs
are all empty, as configurations that show every field have them, and passes it over at each point.
Whoever listed it believes that it is asked. A verb with blanks around it, or of nothing else, is a
verb: the blanks become part of the address, where hardly any extender answers.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from podium.golang.base64_text import base64_fault
from podium.scheduler.config.errors import (
    ConfigFinding,
    ConfigurationError,
    FieldProblem,
    Level,
    join_problems,
)
from podium.scheduler.config.merge import PointLists
from podium.scheduler.config.plugin_args import NodeResourcesFitArgs
from podium.scheduler.config.types import Configuration, Extender, ExtenderTLSConfig, ExtensionPoint
from podium.scheduler.config.validation import fit_args_problems
from podium.scheduler.config.written import WrittenFile

FIT: Final = "NodeResourcesFit"
NO_FIT_ARGS: Final = "can't find NodeResourcesFitArgs in plugin config"
_PEM: Final = re.compile(rb"-----BEGIN ([^\n-]+)-----[ \t\r]*\n(.*?)-----END \1-----", re.DOTALL)


class UnbuildableProfile(ConfigurationError):
    """A profile that cannot be built; those `before` it are built first, and may not be either."""

    before: Configuration


def build_problem(
    configuration: Configuration, gates: Mapping[str, bool]
) -> ConfigurationError | None:
    """The first reason why this cannot be built, or None."""
    refusal = certificates_problem(configuration)
    if refusal is not None:
        return refusal
    ignores = ignored_resources(configuration)
    for i, profile in enumerate(configuration.profiles):
        if ignores and FIT not in profile.plugin_args:
            problem = FieldProblem(f"profiles[{i}]", NO_FIT_ARGS)
            return ConfigurationError(f"couldn't build extenders: {NO_FIT_ARGS}", (problem,))
    configuration = with_ignored_resources(configuration)
    for i, profile in enumerate(configuration.profiles):
        problems = fit_args_problems(profile, gates)
        if problems:
            unbuildable = UnbuildableProfile(
                f"initializing profiles: creating profile for scheduler name "
                f'{profile.scheduler_name}: initializing plugin "NodeResourcesFit": '
                f"{join_problems(problems)}",
                fit_problems(configuration, gates),
            )
            unbuildable.before = replace(configuration, profiles=configuration.profiles[:i])
            return unbuildable
    return None


def certificates_problem(configuration: Configuration) -> ConfigurationError | None:
    """What is wrong with certificates that are in the configuration itself."""
    for i, extender in enumerate(configuration.extenders):
        text = _certificate_problem(extender)
        if text:
            problem = FieldProblem(f"extenders[{i}].tlsConfig", text)
            return ConfigurationError(f"couldn't build extenders: {text}", (problem,))
    return None


def fit_problems(configuration: Configuration, gates: Mapping[str, bool]) -> list[FieldProblem]:
    """Everything that NodeResourcesFit would refuse in any profile, with its place."""
    found: list[FieldProblem] = []
    for i, profile in enumerate(configuration.profiles):
        problems = fit_args_problems(profile, gates)
        if problems:
            found.extend(_place_problems(problems, i, list(profile.plugin_args).index(FIT)))
    return found


def with_ignored_resources(configuration: Configuration) -> Configuration:
    """The configuration in which NodeResourcesFit leaves out what extenders look after.

    upstream: their names take the place of the list that the operator wrote.
    """
    ignored = ignored_resources(configuration)
    if not ignored:
        return configuration
    profiles = []
    for profile in configuration.profiles:
        args = profile.plugin_args[FIT]
        if isinstance(args, NodeResourcesFitArgs):
            args = replace(args, ignored_resources=ignored)
        plugin_args = {**profile.plugin_args, FIT: args}
        profiles.append(replace(profile, plugin_args=plugin_args))
    return replace(configuration, profiles=tuple(profiles))


def ignored_resources(configuration: Configuration) -> tuple[str, ...]:
    """The resources that extenders account for in the scheduler's place."""
    return tuple(
        resource.name
        for extender in configuration.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )


def _certificate_problem(extender: Extender) -> str:
    tls = extender.tls_config or ExtenderTLSConfig()
    if (tls.ca_file or tls.ca_data) and tls.insecure:
        return "specifying a root certificates file with the insecure flag is not allowed"
    if tls.ca_data and not _holds_pem(tls.ca_data):
        return "unable to load root certificates: unable to parse bytes as PEM block"
    # upstream: a certificate without its key is not looked at.
    has_key = tls.key_data or tls.key_file
    if tls.cert_data and has_key and not _holds_pem(tls.cert_data):
        return "tls: failed to find any PEM data in certificate input"
    return ""


def _holds_pem(data: bytes) -> bool:
    return any(
        base64_fault(found[2].decode(errors="replace")) is None for found in _PEM.finditer(data)
    )


def _place_problems(problems: list[FieldProblem], profile: int, entry: int) -> list[FieldProblem]:
    at = f"profiles[{profile}].pluginConfig[{entry}].args"
    return [FieldProblem(f"{at}.{p.path}", p.text, p.remedy) for p in problems]


BuildsOn = Callable[[str], Mapping[str, str]]
"""Which points of a plugin build on which others of it."""
_SILENT: Final = WrittenFile({})


def find_unworkable(
    lists: Mapping[str, PointLists], builds_on: BuildsOn, written: WrittenFile = _SILENT
) -> Iterator[ConfigFinding]:
    """What cannot work in the plugin lists of all profiles, one after another."""
    for i, points in enumerate(lists.values()):
        lacking: dict[str, dict[str, None]] = {}
        reading: dict[str, dict[str, None]] = {}
        for point, listed in points.items():
            for plugin in listed:
                needed = builds_on(plugin.name).get(point.value)
                if needed and plugin.name not in _names(points, needed):
                    lacking.setdefault(needed, {})[plugin.name] = None
                    reading.setdefault(needed, {})[point.value] = None
        for needed, plugins in lacking.items():
            path = f"profiles[{i}].plugins.{needed}"
            names, at = ", ".join(plugins), ", ".join(reading[needed])
            yield ConfigFinding(
                Level.WARNING,
                path,
                f"kube-scheduler fails every pod, since what is worked out at {needed} is read at "
                f"{at} by plugins that are off at {needed}: {names}; here they run there",
                f"enable them at {needed}, or disable them at {at}",
                written.line_of(path),
            )


def _names(points: PointLists, point: str) -> set[str]:
    return {plugin.name for plugin in points[ExtensionPoint(point)]}


_TEXT: Final = "has no verb, so that it is never called"
_REMEDY: Final = "write filterVerb, prioritizeVerb, preemptVerb or bindVerb, or leave it out"
_BLANK: Final = "begins or ends with blanks, which are part of the address that is asked"
_NOT_BLANK: Final = 'leave the blanks out; "" is the verb of an extender that is not asked'


def find_unasked(
    extenders: Sequence[Extender], written: WrittenFile = _SILENT
) -> Iterator[ConfigFinding]:
    """A finding for each extender without any verb, and for each verb with blanks around it."""
    for i, extender in enumerate(extenders):
        verbs = {
            "filterVerb": extender.filter_verb,
            "prioritizeVerb": extender.prioritize_verb,
            "preemptVerb": extender.preempt_verb,
            "bindVerb": extender.bind_verb,
        }
        path = f"extenders[{i}]"
        if not any(verbs.values()):
            yield ConfigFinding(Level.WARNING, path, _TEXT, _REMEDY, written.line_of(path))
        for field, verb in verbs.items():
            if verb != verb.strip():
                path = f"extenders[{i}].{field}"
                yield ConfigFinding(Level.WARNING, path, _BLANK, _NOT_BLANK, written.line_of(path))
