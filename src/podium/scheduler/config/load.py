"""The entry point of a configuration: which version it is of, and the steps to a checked one.

Four steps, each with all the mistakes it can find: decode the file strictly, type the arguments of
every plugin, fill in the defaults, validate. A file that passes is a `Configuration`; one that does
not is a `ConfigurationError` whose text is kube-scheduler's. `READERS` has what is particular to
each apiVersion, and is where a further version is added.

Which version of the configuration a file is of, and what is said to a file that is of none.
Upstream looks a document's apiVersion and kind up in a scheme that holds more than configurations:
the arguments of plugins are kinds of their own, and all of them exist once more in an internal
version without any field names. Files that name one of those are decoded before they are refused,
so their unknown fields are what is complained about first.

A Policy inside a ConfigMap, as clusters kept it for `--policy-configmap`. The ConfigMap has the
whole file as text under `policy.cfg`. Whoever wrote it to a file and hands that to Podium means the
Policy, so that is what is read; lines are counted in the outer file where they can be found there.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.buildable import build_problem, fit_problems, with_ignored_resources
from podium.scheduler.config.decode import (
    HEADER_FIELDS,
    INTERNAL,
    ConfigDecodeError,
    StrictErrors,
    UnknownField,
    header_of,
    not_registered,
)
from podium.scheduler.config.defaults import complete
from podium.scheduler.config.errors import (
    ConfigurationError,
    FieldProblem,
    invalid,
    join_problems,
    required,
)
from podium.scheduler.config.policy import is_policy, load_policy
from podium.scheduler.config.typed_args import ARGS_SUFFIX, decode_args, is_args_kind, typed_args
from podium.scheduler.config.types import API_GROUP, API_VERSION, KIND, Configuration
from podium.scheduler.config.validation import configuration_problems
from podium.scheduler.config.versions import V1, V1BETA1, V1BETA2, V1BETA3, ConfigVersion
from podium.scheduler.config.written import WrittenFile, read_written

READERS: Final[Mapping[str, ConfigVersion]] = {
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
    readers: Mapping[str, ConfigVersion] = READERS,
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
    except ConfigDecodeError as error:
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
    readers: Mapping[str, ConfigVersion],
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
        raise ConfigurationError(join_problems(problems), [*problems, *later])
    return configuration


EMPTY: Final = (
    "the file is empty, as `type: FileOrCreate` makes one; write the configuration into it"
)


def is_empty(written: WrittenFile) -> bool:
    return written.text is not None and not written.text.strip()


def version_of(written: WrittenFile, readers: Mapping[str, ConfigVersion]) -> ConfigVersion:
    """Raises ConfigurationError or DecodeError."""
    api_version, kind = header_of(written.value)
    whole = "the configuration" if written.text is None else f"'{written.text}'"
    if not kind:
        raise ConfigurationError(
            f"Object 'Kind' is missing in {whole}",
            (FieldProblem("", "Object 'Kind' is missing"),),
            remedy=EMPTY if is_empty(written) else f"write `kind: {KIND}`",
        )
    if not api_version:
        raise ConfigurationError(
            f"Object 'apiVersion' is missing in {whole}",
            (FieldProblem("", "Object 'apiVersion' is missing"),),
            remedy=f"write `apiVersion: {API_VERSION}`",
        )
    version = readers.get(api_version) if kind == KIND else None
    if version is not None:
        return version
    if kind == KIND or is_args_kind(kind, V1.args_kinds):
        _refuse_other_kinds(written, api_version, kind)
    raise ConfigurationError(
        not_registered(kind, api_version),
        remedy=f"the configuration must be a {KIND} of {API_VERSION}",
    )


def _refuse_other_kinds(written: WrittenFile, api_version: str, kind: str) -> None:
    """Refuse what upstream knows and cannot use."""
    strict = StrictErrors(written.repeated_keys)
    if api_version == f"{API_GROUP}/{INTERNAL}":
        names = (name for name in written.value if name not in HEADER_FIELDS)
        strict.add([UnknownField(name, "") for name in names])
    elif api_version == API_VERSION:
        shape = V1.args_kinds[kind.removesuffix(ARGS_SUFFIX)]
        strict.add(decode_args(written.value, shape).unknown_fields)
    else:
        return
    if strict:
        raise strict.error(())
    if kind != KIND:
        raise ConfigurationError(f"couldn't decode as {KIND}, got {api_version}, Kind={kind}: ")
    # upstream: the internal version has no defaults, so nothing in it is filled in.
    problems = (
        invalid("parallelism", 0, "should be an integer value greater than zero"),
        required("profiles"),
        invalid("podInitialBackoffSeconds", 0, "must be greater than 0"),
    )
    raise ConfigurationError(join_problems(problems), problems)


KEY: Final = "policy.cfg"


def policy_of_config_map(written: WrittenFile) -> WrittenFile:
    """The Policy that a ConfigMap holds; any other file comes back as it is.

    Raises ConfigurationError.
    """
    if not _is_config_map(written.value):
        return written
    data = written.value.get("data")
    policy = data.get(KEY) if isinstance(data, Mapping) else None
    if not isinstance(policy, str):
        raise ConfigurationError(
            f'missing policy config map value at key "{KEY}"',
            remedy=f"write the Policy as text under data: {KEY}",
        )
    inner = read_written(policy.encode())
    offset = _offset(written, policy)
    lines = {} if offset is None else {at: line + offset for at, line in inner.lines.items()}
    return WrittenFile(inner.value, inner.text, inner.repeated_keys, lines)


def _is_config_map(value: object) -> bool:
    try:
        return header_of(value) == ("v1", "ConfigMap")
    except ConfigDecodeError:
        return False


def _offset(written: WrittenFile, policy: str) -> int | None:
    """How many lines are before the Policy's first, if it is there line by line."""
    key_line = written.lines.get((id(written.value["data"]), KEY))
    outer, inner = (written.text or "").splitlines(), policy.splitlines()
    if key_line is None or not inner or key_line >= len(outer):
        return None
    return key_line if outer[key_line].strip() == inner[0].strip() else None
