"""Arguments of plugins, from what stands under `pluginConfig` to their types.

Arguments are decoded one entry at a time, by the kind that the plugin's name asks for. A plugin
without such a kind keeps what was written, whatever it is.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.decode import Decoded, DecodeError, UnknownField, decode
from podium.scheduler.config.errors import ConfigurationError, FieldProblem
from podium.scheduler.config.header import HEADER_FIELDS, header_of, not_registered
from podium.scheduler.config.json_text import RepeatedMembers, members
from podium.scheduler.config.plugin_args import PluginArgs, RawArgs, defaulted
from podium.scheduler.config.strict_errors import StrictErrors
from podium.scheduler.config.types import API_GROUP, KIND, KubeSchedulerConfiguration

ARGS_SUFFIX: Final = "Args"

NamedArgs = tuple[str, PluginArgs | RawArgs]
"""One entry of `pluginConfig`: the plugin's name and its typed arguments."""

ArgsKinds = Mapping[str, type[PluginArgs]]
"""The type of the arguments by plugin name."""


def typed_args(
    written: KubeSchedulerConfiguration,
    versions: Sequence[str],
    kinds: ArgsKinds,
    strict: StrictErrors,
    gates: FeatureGates,
    absent: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> Sequence[Sequence[NamedArgs]]:
    """The arguments of every profile, defaulted; raises ConfigurationError for a wrong type.

    `versions` are the apiVersions that arguments may name; the first is meant if they name none.
    `absent` are the fields, by plugin, that arguments did not have yet.
    """
    typed: list[list[NamedArgs]] = []
    refused: list[ConfigurationError] = []
    for i, profile in enumerate(written.profiles):
        entries: list[NamedArgs] = []
        for j, entry in enumerate(profile.plugin_config):
            at = f"profiles[{i}].pluginConfig[{j}]"
            try:
                decoded = _decode_args(
                    entry.name, entry.args, versions, kinds, absent.get(entry.name, frozenset())
                )
            except DecodeError as error:
                refused.append(_refusal(at, error))
                continue
            args: PluginArgs | RawArgs = decoded.value
            strict.add(
                decoded.unknown_fields,
                before=f"decoding .{at}: strict decoding error: decoding args for plugin "
                f"{entry.name}: strict decoding error: ",
                at=f"{at}.args.",
            )
            if isinstance(args, PluginArgs):
                args = defaulted(args, gates)
            entries.append((entry.name, args))
        typed.append(entries)
    if refused:
        # upstream: the first one ends the decoding, and hides what was unknown before it.
        problems = (problem for error in refused for problem in error.problems)
        raise ConfigurationError(refused[0].message, (*problems, *strict.problems))
    return typed


def is_args_kind(kind: str, kinds: ArgsKinds) -> bool:
    return kind.endswith(ARGS_SUFFIX) and kind.removesuffix(ARGS_SUFFIX) in kinds


def _decode_args(
    plugin: str, raw: Any, versions: Sequence[str], kinds: ArgsKinds, absent: frozenset[str]
) -> Decoded[PluginArgs] | Decoded[RawArgs]:
    shape = kinds.get(plugin)
    if shape is None:
        return Decoded(RawArgs(raw), ())
    if raw is None:
        return Decoded(shape(), ())
    try:
        api_version, kind = header_of(raw)
        expected = f"{plugin}{ARGS_SUFFIX}"
        api_version, kind = api_version or versions[0], kind or expected
        if api_version not in versions or not (kind == KIND or is_args_kind(kind, kinds)):
            raise DecodeError(not_registered(kind, api_version))
        if kind == KIND:
            decoded = Decoded[PluginArgs](shape(), ())
        else:
            decoded = decode_args(raw, kinds[kind.removesuffix(ARGS_SUFFIX)], absent)
    except DecodeError as error:
        text = f"decoding args for plugin {plugin}: {error}"
        raise DecodeError(text, error.problems) from None
    if kind != expected:
        raise DecodeError(
            f"args for plugin {plugin} were not of type {expected}.{API_GROUP}, "
            f"got {kind}.{API_GROUP}"
        )
    return decoded


def decode_args(
    raw: Mapping[str, Any], shape: type[PluginArgs], absent: frozenset[str] = frozenset()
) -> Decoded[PluginArgs]:
    """Arguments without their header. Raises DecodeError."""
    left, repeated, seen = [], [], set()
    for name, value in members(raw):
        if name not in HEADER_FIELDS:
            left.append((name, value))
        elif name in seen:
            repeated.append(UnknownField(name, "", "duplicate field"))
        seen.add(name)
    decoded = decode(RepeatedMembers(left), shape, absent)
    return Decoded(decoded.value, (*dict.fromkeys(repeated), *decoded.unknown_fields))


def _refusal(at: str, error: DecodeError) -> ConfigurationError:
    problems = (
        FieldProblem(f"{at}.args.{p.path}" if p.path else f"{at}.args", p.text, p.remedy)
        for p in error.problems
    )
    return ConfigurationError(f"decoding .{at}: {error}", problems)
