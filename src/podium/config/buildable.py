"""What is valid and still fails when the scheduler puts its parts together.

Upstream builds extenders first, then the profiles, and stops at the first failure. What depends on
the plugins themselves is checked by `expand.py`; here is the rest, as far as values can tell.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from podium.config.errors import ConfigurationError, FieldProblem, joined
from podium.config.plugin_args import NodeResourcesFitArgs
from podium.config.types import API_VERSION, Configuration, ExtenderTLSConfig
from podium.config.validation import IN_TREE_VOLUME_LIMITS, fit_args_problems

_PEM_START = b"-----BEGIN "


def build_problem(
    configuration: Configuration, gates: Mapping[str, bool]
) -> ConfigurationError | None:
    """The first reason why this cannot be built, or None."""
    for i, extender in enumerate(configuration.extenders):
        text = _certificate_problem(extender.tls_config) if extender.tls_config else ""
        if text:
            problem = FieldProblem(f"extenders[{i}].tlsConfig", text)
            return ConfigurationError(f"couldn't build extenders: {text}", (problem,))
    ignores = _ignored_resources(configuration)
    for i, profile in enumerate(configuration.profiles):
        if ignores and "NodeResourcesFit" not in profile.plugin_args:
            text = "can't find NodeResourcesFitArgs in plugin config"
            problem = FieldProblem(f"profiles[{i}]", text)
            return ConfigurationError(f"couldn't build extenders: {text}", (problem,))
    for i, profile in enumerate(configuration.profiles):
        problems = fit_args_problems(profile, gates)
        if problems:
            return ConfigurationError(
                f"initializing profiles: creating profile for scheduler name "
                f'{profile.scheduler_name}: initializing plugin "NodeResourcesFit": '
                f"{joined(problems)}",
                _placed(problems, i, list(profile.plugin_args).index("NodeResourcesFit")),
            )
    for profile in configuration.profiles:
        gone = [p.name for p in profile.plugins.multi_point.enabled]
        gone = [name for name in gone if name in IN_TREE_VOLUME_LIMITS]
        if gone and configuration.api_version == API_VERSION:
            return ConfigurationError(
                f"initializing profiles: creating profile for scheduler name "
                f'{profile.scheduler_name}: PreFilterPlugin "{gone[0]}" does not exist'
            )
    return None


def with_ignored_resources(configuration: Configuration) -> Configuration:
    """The configuration in which NodeResourcesFit leaves out what extenders look after.

    upstream: their names take the place of the list that the operator wrote.
    """
    ignored = _ignored_resources(configuration)
    if not ignored:
        return configuration
    profiles = []
    for profile in configuration.profiles:
        args = profile.plugin_args["NodeResourcesFit"]
        if isinstance(args, NodeResourcesFitArgs):
            args = replace(args, ignored_resources=ignored)
        plugin_args = {**profile.plugin_args, "NodeResourcesFit": args}
        profiles.append(replace(profile, plugin_args=plugin_args))
    return replace(configuration, profiles=tuple(profiles))


def _ignored_resources(configuration: Configuration) -> tuple[str, ...]:
    return tuple(
        resource.name
        for extender in configuration.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )


def _certificate_problem(tls: ExtenderTLSConfig) -> str:
    if tls.ca_data and _PEM_START not in tls.ca_data:
        return "unable to load root certificates: unable to parse bytes as PEM block"
    # upstream: a certificate without its key is not looked at.
    if tls.cert_data and tls.key_data and _PEM_START not in tls.cert_data:
        return "tls: failed to find any PEM data in certificate input"
    return ""


def _placed(problems: list[FieldProblem], profile: int, entry: int) -> list[FieldProblem]:
    at = f"profiles[{profile}].pluginConfig[{entry}].args"
    return [FieldProblem(f"{at}.{p.path}", p.text, p.remedy) for p in problems]
