"""The door through which a configuration comes in.

Four steps, each with all the mistakes it can find: decode the file strictly, type the arguments of
every plugin, fill in the defaults, validate. A file that passes is a `Configuration`; one that does
not is a `ConfigurationError` whose text is kube-scheduler's. `READERS` has what is particular to
each apiVersion, and is where a further version is added.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from podium.config.buildable import build_problem, with_ignored_resources
from podium.config.decode import DecodeError
from podium.config.defaults import complete
from podium.config.errors import ConfigurationError, FieldProblem, joined
from podium.config.feature_gates import DEFAULT_GATES, FeatureGates
from podium.config.header import SCHEME, header_of
from podium.config.policy import is_policy, load_policy
from podium.config.strict_errors import StrictErrors
from podium.config.typed_args import is_args_kind, typed_args
from podium.config.types import API_VERSION, KIND, Configuration
from podium.config.validation import configuration_problems
from podium.config.versions import V1, V1BETA1, V1BETA2, V1BETA3, Version
from podium.config.written import WrittenFile, read_written

READERS: Final[Mapping[str, Version]] = {
    version.api_version: version for version in (V1, V1BETA3, V1BETA2, V1BETA1)
}


def load_configuration(
    raw: Mapping[str, Any] | None,
    *,
    source: str = "",
    gates: FeatureGates = DEFAULT_GATES,
) -> Configuration:
    """Turn a document into the configuration the scheduler runs with.

    `raw` is the decoded YAML or JSON; None stands for "no file", which gives the defaults. `source`
    names the file in errors. Raises ConfigurationError.
    """
    if raw is None:
        raw = {"apiVersion": API_VERSION, "kind": KIND}
    configuration = load_written(WrittenFile(raw), source=source, gates=gates)
    refuse_extenders(configuration, source)
    return configuration


def load_file(
    data: bytes, *, source: str = "", gates: FeatureGates = DEFAULT_GATES
) -> Configuration:
    """Turn a file's content into the configuration the scheduler runs with."""
    try:
        written = read_written(data)
    except ConfigurationError as error:
        raise error.found_in(source) from None
    configuration = load_written(written, source=source, gates=gates)
    refuse_extenders(configuration, source)
    return configuration


def load_written(
    written: WrittenFile, *, source: str = "", gates: FeatureGates = DEFAULT_GATES
) -> Configuration:
    """The configuration of a file that was read, extenders included."""
    try:
        if is_policy(written.value):
            strict = StrictErrors(written.repeated_keys)
            configuration = load_policy(written.value, strict, gates)
        else:
            configuration = _load_version(written, gates)
        refusal = build_problem(configuration, gates)
        if refusal is not None:
            raise refusal
    except DecodeError as error:
        raise ConfigurationError(str(error), source=source) from None
    except ConfigurationError as error:
        raise error.found_in(source) from None
    return with_ignored_resources(configuration)


def _load_version(written: WrittenFile, gates: FeatureGates) -> Configuration:
    version = _version_of(written)
    strict = StrictErrors(written.repeated_keys)
    decoded = version.read(written.value, strict)
    args = typed_args(decoded, version.args_versions, version.args_kinds, strict, gates)
    configuration = replace(
        complete(decoded, args, gates, version.merged, version.args_kinds),
        api_version=version.api_version,
        notes=version.notes(decoded),
    )
    problems = configuration_problems(configuration, args, gates, version.rules)
    problems.extend(version.judge(decoded, configuration))
    if strict:
        raise strict.error(problems)
    if problems:
        raise ConfigurationError(joined(problems), problems)
    return configuration


def refuse_extenders(configuration: Configuration, source: str) -> None:
    """Refuse what is valid but cannot be put to work."""
    if configuration.extenders:
        problem = FieldProblem("extenders", "scheduler extenders are not supported yet")
        raise ConfigurationError(
            f"couldn't build extenders: {problem.text}",
            (problem,),
            source=source,
            remedy="remove `extenders` from the configuration",
        )


def _version_of(written: WrittenFile) -> Version:
    api_version, kind = header_of(written.value)
    whole = "the configuration" if written.text is None else f"'{written.text}'"
    if not kind:
        raise ConfigurationError(
            f"Object 'Kind' is missing in {whole}", remedy=f"write `kind: {KIND}`"
        )
    if not api_version:
        raise ConfigurationError(
            f"Object 'apiVersion' is missing in {whole}",
            remedy=f"write `apiVersion: {API_VERSION}`",
        )
    if api_version.count("/") > 1:
        raise ConfigurationError(f"unexpected GroupVersion string: {api_version}")
    if api_version == API_VERSION and is_args_kind(kind, V1.args_kinds):
        raise ConfigurationError(
            f"couldn't decode as KubeSchedulerConfiguration, got {api_version}, Kind={kind}: "
        )
    version = READERS.get(api_version) if kind == KIND else None
    if version is None:
        raise ConfigurationError(
            f'no kind "{kind}" is registered for version "{api_version}" {SCHEME}',
            remedy=f"the configuration must be a {KIND} of {API_VERSION}",
        )
    return version
