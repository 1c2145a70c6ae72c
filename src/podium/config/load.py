"""The door through which a configuration comes in.

Four steps, each with all the mistakes it can find: decode the v1 file strictly, type the arguments
of every plugin, fill in the defaults, validate. A file that passes is a `Configuration`; one that
does not is a `ConfigurationError` whose text is kube-scheduler's. `READERS` maps an apiVersion to
the function that turns a document into the v1 form, and is where a further version is added.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

from podium.api.errors import did_you_mean
from podium.config.decode import DecodeError, UnknownField, decode, json_kind
from podium.config.defaults import NamedArgs, complete
from podium.config.errors import ConfigurationError, FieldProblem, joined
from podium.config.feature_gates import DEFAULT_GATES, FeatureGates
from podium.config.plugin_args import ARGS_KINDS, PluginArgs, RawArgs, defaulted
from podium.config.types import (
    API_GROUP,
    API_VERSION,
    KIND,
    Configuration,
    KubeSchedulerConfiguration,
)
from podium.config.validation import configuration_problems, fit_args_problems

_SCHEME: Final = 'in scheme "pkg/scheduler/apis/config/scheme/scheme.go:29"'
_HEADER_STRUCT: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
_ARGS_SUFFIX: Final = "Args"


class _StrictErrors:
    """Fields that are not part of the format: upstream's texts, the places, and a best guess."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.problems: list[FieldProblem] = []
        self.suggestion = ""

    def add(self, fields: Sequence[UnknownField], *, before: str = "", at: str = "") -> None:
        """Note unknown fields; `before` opens their text, `at` is the path they hang below."""
        if not fields:
            return
        self.texts.append(before + ", ".join(f'unknown field "{field.path}"' for field in fields))
        self.problems.extend(FieldProblem(f"{at}{field.path}", "unknown field") for field in fields)
        self.suggestion = self.suggestion or fields[0].suggestion

    def raise_if_any(self, source: str) -> None:
        if self.texts:
            raise ConfigurationError(
                f"strict decoding error: {', '.join(self.texts)}",
                self.problems,
                source=source,
                remedy=did_you_mean(self.suggestion),
            )


Reader = Callable[[Mapping[str, Any], _StrictErrors], KubeSchedulerConfiguration]


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
    try:
        reader = _reader_for(raw)
        strict = _StrictErrors()
        written = reader(raw, strict)
        args = _typed_args(written, strict, gates)
    except DecodeError as error:
        raise ConfigurationError(str(error), source=source) from None
    except ConfigurationError as error:
        raise _with_source(error, source) from None
    strict.raise_if_any(source)

    configuration = complete(written, args, gates)
    problems = configuration_problems(configuration, args, gates)
    if problems:
        raise ConfigurationError(joined(problems), problems, source=source)
    _refuse_unbuildable(configuration, gates, source)
    return configuration


def _reader_for(raw: object) -> Reader:
    api_version, kind = _header(raw)
    if not kind:
        raise ConfigurationError(
            "Object 'Kind' is missing in the configuration", remedy=f"write `kind: {KIND}`"
        )
    if not api_version:
        raise ConfigurationError(
            "Object 'apiVersion' is missing in the configuration",
            remedy=f"write `apiVersion: {API_VERSION}`",
        )
    if api_version.count("/") > 1:
        raise ConfigurationError(f"unexpected GroupVersion string: {api_version}")
    if api_version == API_VERSION and _is_args_kind(kind):
        raise ConfigurationError(
            f"couldn't decode as KubeSchedulerConfiguration, got {api_version}, Kind={kind}: "
        )
    reader = READERS.get(api_version) if kind == KIND else None
    if reader is None:
        raise ConfigurationError(
            f'no kind "{kind}" is registered for version "{api_version}" {_SCHEME}',
            remedy=f"the configuration must be a {KIND} of {API_VERSION}",
        )
    return reader


def _header(raw: object) -> tuple[str, str]:
    """The apiVersion and kind of a document; empty where absent."""
    prefix = "couldn't get version/kind; json parse error: json: cannot unmarshal"
    if not isinstance(raw, Mapping):
        raise DecodeError(f"{prefix} {json_kind(raw)} into Go value of type {_HEADER_STRUCT}")
    found = []
    for field in ("apiVersion", "kind"):
        value = raw.get(field)
        if value is not None and not isinstance(value, str):
            raise DecodeError(
                f"{prefix} {json_kind(value)} into Go struct field .{field} of type string"
            )
        found.append(value or "")
    return found[0], found[1]


def _read_v1(raw: Mapping[str, Any], strict: _StrictErrors) -> KubeSchedulerConfiguration:
    written, unknown_fields = decode(raw, KubeSchedulerConfiguration)
    strict.add(unknown_fields)
    return written


READERS: Final[Mapping[str, Reader]] = {API_VERSION: _read_v1}


def _typed_args(
    written: KubeSchedulerConfiguration, strict: _StrictErrors, gates: FeatureGates
) -> Sequence[Sequence[NamedArgs]]:
    typed: list[list[NamedArgs]] = []
    for i, profile in enumerate(written.profiles):
        entries: list[NamedArgs] = []
        for j, entry in enumerate(profile.plugin_config):
            at = f"profiles[{i}].pluginConfig[{j}]"
            try:
                args, unknown_fields = _decode_args(entry.name, entry.args)
            except DecodeError as error:
                _refuse_args(at, str(error))
            strict.add(
                unknown_fields,
                before=f"decoding .{at}: strict decoding error: decoding args for plugin "
                f"{entry.name}: strict decoding error: ",
                at=f"{at}.args.",
            )
            if isinstance(args, PluginArgs):
                args = defaulted(args, gates)
            entries.append((entry.name, args))
        typed.append(entries)
    return typed


def _decode_args(plugin: str, raw: Any) -> tuple[PluginArgs | RawArgs, tuple[UnknownField, ...]]:
    shape = ARGS_KINDS.get(plugin)
    if shape is None:
        return RawArgs(raw), ()
    if raw is None:
        return shape(), ()
    try:
        api_version, kind = _header(raw)
        expected = f"{plugin}{_ARGS_SUFFIX}"
        api_version, kind = api_version or API_VERSION, kind or expected
        if api_version != API_VERSION or not _is_args_kind(kind):
            raise DecodeError(
                f'no kind "{kind}" is registered for version "{api_version}" {_SCHEME}'
            )
        body = {name: value for name, value in raw.items() if name not in ("apiVersion", "kind")}
        args, unknown_fields = decode(body, ARGS_KINDS[kind.removesuffix(_ARGS_SUFFIX)])
    except DecodeError as error:
        raise DecodeError(f"decoding args for plugin {plugin}: {error}") from None
    if kind != expected:
        raise DecodeError(
            f"args for plugin {plugin} were not of type {expected}.{API_GROUP}, "
            f"got {kind}.{API_GROUP}"
        )
    return args, unknown_fields


def _refuse_args(at: str, text: str) -> NoReturn:
    problem = FieldProblem(f"{at}.args", text)
    raise ConfigurationError(f"decoding .{at}: {text}", (problem,))


def _is_args_kind(kind: str) -> bool:
    return kind.endswith(_ARGS_SUFFIX) and kind.removesuffix(_ARGS_SUFFIX) in ARGS_KINDS


def _refuse_unbuildable(configuration: Configuration, gates: FeatureGates, source: str) -> None:
    """Refuse what is valid but cannot be put to work."""
    if configuration.extenders:
        problem = FieldProblem("extenders", "scheduler extenders are not supported yet")
        raise ConfigurationError(
            f"couldn't build extenders: {problem.text}",
            (problem,),
            source=source,
            remedy="remove `extenders` from the configuration",
        )
    for profile in configuration.profiles:
        problems = fit_args_problems(profile, gates)
        if problems:
            raise ConfigurationError(
                f"initializing profiles: creating profile for scheduler name "
                f'{profile.scheduler_name}: initializing plugin "NodeResourcesFit": '
                f"{joined(problems)}",
                problems,
                source=source,
            )


def _with_source(error: ConfigurationError, source: str) -> ConfigurationError:
    return ConfigurationError(error.message, error.problems, source=source, remedy=error.remedy)
