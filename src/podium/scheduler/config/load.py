"""The door through which a configuration comes in.

Four steps, each with all the mistakes it can find: decode the file strictly, type the arguments of
every plugin, fill in the defaults, validate. A file that passes is a `Configuration`; one that does
not is a `ConfigurationError` whose text is kube-scheduler's. `READERS` has what is particular to
each apiVersion, and is where a further version is added.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.buildable import build_problem, fit_problems, with_ignored_resources
from podium.scheduler.config.config_map import policy_of_config_map
from podium.scheduler.config.decode import DecodeError
from podium.scheduler.config.defaults import complete
from podium.scheduler.config.errors import ConfigurationError, FieldProblem, joined
from podium.scheduler.config.policy import is_policy, load_policy
from podium.scheduler.config.registration import version_of
from podium.scheduler.config.strict_errors import StrictErrors
from podium.scheduler.config.typed_args import typed_args
from podium.scheduler.config.types import API_VERSION, KIND, Configuration
from podium.scheduler.config.validation import configuration_problems
from podium.scheduler.config.versions import V1, V1BETA1, V1BETA2, V1BETA3, Version
from podium.scheduler.config.written import WrittenFile, read_written

READERS: Final[Mapping[str, Version]] = {
    version.api_version: version for version in (V1, V1BETA3, V1BETA2, V1BETA1)
}
MAX_PROFILES: Final = 200
Overlay = Callable[[Configuration], Configuration]
Prepare = Callable[[Configuration], object]


def load_configuration(
    raw: Mapping[str, Any] | None,
    *,
    source: str = "",
    gates: FeatureGates,
) -> Configuration:
    """Turn a document into the configuration the scheduler runs with.

    `raw` is the decoded YAML or JSON; None stands for "no file", which gives the defaults. `source`
    names the file in errors. Raises ConfigurationError.
    """
    if raw is None:
        raw = {"apiVersion": API_VERSION, "kind": KIND}
    return load_written(WrittenFile(raw), source=source, gates=gates)


def load_file(
    data: bytes,
    *,
    source: str = "",
    gates: FeatureGates,
    takes_old: bool = True,
) -> Configuration:
    """Turn a file's content into the configuration the scheduler runs with; `takes_old` allows for
    names of earlier times."""
    try:
        written = policy_of_config_map(read_written(data))
    except ConfigurationError as error:
        raise error.found_in(source) from None
    return load_written(written, source=source, gates=gates, takes_old=takes_old)


def load_written(
    written: WrittenFile,
    *,
    source: str = "",
    gates: FeatureGates,
    prepare: Prepare = lambda _configuration: None,
    takes_old: bool = True,
) -> Configuration:
    """The configuration of a file that was read, extenders included.

    `prepare` is called with the valid configuration before anything is built from it, and may
    refuse it.
    """
    try:
        configuration = decode_written(written, gates, takes_old=takes_old)
        prepare(configuration)
        return built(configuration, gates)
    except ConfigurationError as error:
        raise error.found_in(source) from None


def decode_written(
    written: WrittenFile,
    gates: FeatureGates,
    *,
    readers: Mapping[str, Version] = READERS,
    overlay: Overlay = lambda configuration: configuration,
    takes_old: bool = True,
) -> Configuration:
    """A file decoded, completed and valid, but with nothing built from it.

    `overlay` is what the command line changes; what it leaves is validated. Without `takes_old`
    names of earlier times are mistakes.
    """
    strict = StrictErrors(written.repeated_keys, takes_old=takes_old)
    try:
        if is_policy(written.value):
            configuration = overlay(load_policy(written.value, strict, gates))
        else:
            configuration = _load_version(written, gates, readers, overlay, strict)
    except DecodeError as error:
        raise ConfigurationError(str(error), error.problems) from None
    findings = (replace(old, line=written.line_of(old.path)) for old in strict.old_spellings)
    in_reading_order = sorted(findings, key=lambda found: found.line or 0)
    return replace(configuration, findings=tuple(in_reading_order))


def built(configuration: Configuration, gates: FeatureGates) -> Configuration:
    """A valid configuration as it is once its parts are put together. Raises ConfigurationError."""
    refusal = build_problem(configuration, gates)
    if refusal is not None:
        raise refusal
    return with_ignored_resources(configuration)


def _load_version(
    written: WrittenFile,
    gates: FeatureGates,
    readers: Mapping[str, Version],
    overlay: Overlay,
    strict: StrictErrors,
) -> Configuration:
    version = version_of(written, readers)
    decoded = version.read(written.value, strict)
    if len(decoded.profiles) > MAX_PROFILES:
        raise ConfigurationError(
            f"profiles: {len(decoded.profiles)} of them",
            (FieldProblem("profiles", f"{len(decoded.profiles)} of them"),),
            remedy=f"Podium takes up to {MAX_PROFILES}",
        )
    args = typed_args(
        decoded,
        version.args_versions,
        version.args_kinds,
        strict,
        gates,
        version.absent_in_args,
    )
    configuration = replace(
        complete(decoded, args, gates, version.merged, version.args_kinds),
        api_version=version.api_version,
        notes=version.notes(decoded),
    )
    configuration = overlay(configuration)
    problems = configuration_problems(configuration, args, gates, version.rules)
    problems.extend(version.judge(decoded, configuration))
    if strict or problems:
        # upstream: these would show only when the others are gone.
        later = fit_problems(configuration, gates)
        if strict:
            raise strict.error([*problems, *later])
        raise ConfigurationError(joined(problems), [*problems, *later])
    return configuration
