"""Arguments of plugins, from what stands under `pluginConfig` to their types.

Arguments are decoded one entry at a time, by the kind that the plugin's name asks for. A plugin
without such a kind keeps what was written, whatever it is.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from podium.config.decode import DecodeError, UnknownField, decode
from podium.config.errors import ConfigurationError, FieldProblem
from podium.config.feature_gates import FeatureGates
from podium.config.header import SCHEME, header_of
from podium.config.json_text import RepeatedMembers
from podium.config.plugin_args import PluginArgs, RawArgs, defaulted
from podium.config.strict_errors import StrictErrors
from podium.config.types import API_GROUP, KubeSchedulerConfiguration

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
) -> Sequence[Sequence[NamedArgs]]:
    """The arguments of every profile, defaulted; raises ConfigurationError for a wrong type.

    `versions` are the apiVersions that arguments may name; the first is meant if they name none.
    """
    typed: list[list[NamedArgs]] = []
    for i, profile in enumerate(written.profiles):
        entries: list[NamedArgs] = []
        for j, entry in enumerate(profile.plugin_config):
            at = f"profiles[{i}].pluginConfig[{j}]"
            try:
                args, unknown_fields = _decode_args(entry.name, entry.args, versions, kinds)
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


def is_args_kind(kind: str, kinds: ArgsKinds) -> bool:
    return kind.endswith(ARGS_SUFFIX) and kind.removesuffix(ARGS_SUFFIX) in kinds


def _decode_args(
    plugin: str, raw: Any, versions: Sequence[str], kinds: ArgsKinds
) -> tuple[PluginArgs | RawArgs, tuple[UnknownField, ...]]:
    shape = kinds.get(plugin)
    if shape is None:
        return RawArgs(raw), ()
    if raw is None:
        return shape(), ()
    try:
        api_version, kind = header_of(raw)
        expected = f"{plugin}{ARGS_SUFFIX}"
        api_version, kind = api_version or versions[0], kind or expected
        if api_version not in versions or not is_args_kind(kind, kinds):
            raise DecodeError(
                f'no kind "{kind}" is registered for version "{api_version}" {SCHEME}'
            )
        args, unknown_fields = decode(_body(raw), kinds[kind.removesuffix(ARGS_SUFFIX)])
    except DecodeError as error:
        raise DecodeError(f"decoding args for plugin {plugin}: {error}") from None
    if kind != expected:
        raise DecodeError(
            f"args for plugin {plugin} were not of type {expected}.{API_GROUP}, "
            f"got {kind}.{API_GROUP}"
        )
    return args, unknown_fields


def _body(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    pairs = raw.pairs if isinstance(raw, RepeatedMembers) else raw.items()
    left = [(name, value) for name, value in pairs if name not in ("apiVersion", "kind")]
    return RepeatedMembers(left) if isinstance(raw, RepeatedMembers) else dict(left)


def _refuse_args(at: str, text: str) -> NoReturn:
    problem = FieldProblem(f"{at}.args", text)
    raise ConfigurationError(f"decoding .{at}: {text}", (problem,))
