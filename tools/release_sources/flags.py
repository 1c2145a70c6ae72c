"""kube-scheduler's flags: names and types by section, and the defaults that are written out.

Most defaults are fields of options that are filled in elsewhere; those are not followed.
"""

import re
from pathlib import Path
from typing import Any, Final

from release_sources.go_source import (
    SourceError,
    after,
    bracketed,
    constants,
    items,
    read,
    without_comments,
)

_STAGING: Final = "staging/src/k8s.io"
_SERVER: Final = f"{_STAGING}/apiserver/pkg/server/options"
_BASE: Final = f"{_STAGING}/component-base"
_OPTIONS: Final = "cmd/kube-scheduler/app/options"
_FUNCTIONS: Final = (
    ("misc", f"{_OPTIONS}/options.go", "func (o *Options) initFlags() {"),
    (
        "secure serving",
        f"{_SERVER}/serving.go",
        "SecureServingOptions) AddFlags(fs *pflag.FlagSet) {",
    ),
    (
        "authentication",
        f"{_SERVER}/authentication.go",
        "RequestHeaderAuthenticationOptions) AddFlags(fs *pflag.FlagSet) {",
    ),
    (
        "authentication",
        f"{_SERVER}/authentication.go",
        "ClientCertAuthenticationOptions) AddFlags(fs *pflag.FlagSet) {",
    ),
    (
        "authentication",
        f"{_SERVER}/authentication.go",
        "DelegatingAuthenticationOptions) AddFlags(fs *pflag.FlagSet) {",
    ),
    (
        "authorization",
        f"{_SERVER}/authorization.go",
        "DelegatingAuthorizationOptions) AddFlags(fs *pflag.FlagSet) {",
    ),
    ("deprecated", f"{_OPTIONS}/deprecated.go", "DeprecatedOptions) AddFlags(fs *pflag.FlagSet) {"),
    (
        "leader election",
        f"{_BASE}/config/options/leaderelectionconfig.go",
        "func BindLeaderElectionFlags(l *config.LeaderElectionConfiguration, fs *pflag.FlagSet) {",
    ),
    (
        "feature gate",
        f"{_BASE}/compatibility/registry.go",
        "componentGlobalsRegistry) AddFlags(fs *pflag.FlagSet) {",
    ),
    ("metrics", f"{_BASE}/metrics/options.go", "Options) AddFlags(fs *pflag.FlagSet) {"),
    (
        "logs",
        f"{_BASE}/logs/api/v1/options.go",
        "func addFlags(c *LoggingConfiguration, fs flagSet) {",
    ),
    (
        "global",
        f"{_BASE}/cli/globalflag/globalflags.go",
        "func AddGlobalFlags(fs *pflag.FlagSet, name string, opts ...logs.Option) {",
    ),
)
_ADDED: Final = re.compile(r"\bfs\.(\w*?)(Var)?(P)?\((?=[&\w\"])")
_OWN_TYPES: Final = {
    "NewNamedCertKeyArray": "namedCertKey",
    "featureGatesConfigFlags": "colonSeparatedMultimapStringString",
    "VerbosityLevelPflag": "Level",
    "VModuleConfigurationPflag": "pattern=N,...",
    "InfoBufferSize": "quantity",
}
"""What values with a type of their own call it, by a name in the expression."""
_NOT_HERE: Final = {"global": {"version": "version"}}
"""A flag that is looked up in Go's own set of flags."""
_ZERO: Final = ("", "0", "false")
"""Defaults that are not written down: a type's zero value."""
_MINUTES: Final = re.compile(r"(\d+) ?\* ?time\.(Minute|Second)")


def read_flags(source: Path) -> dict[str, list[dict[str, Any]]]:
    sections: dict[str, dict[str, dict[str, Any]]] = {}
    for section, file, function in _FUNCTIONS:
        text = without_comments(read(source / file))
        named = {name: value for name, (_, value) in constants(text).items()}
        found = sections.setdefault(section, {})
        for flag in _in(after(text, function), named):
            found[flag["name"]] = flag
    for section, flags in _NOT_HERE.items():
        for name, kind in flags.items():
            sections[section][name] = {"name": name, "type": kind}
    return {section: [flags[name] for name in sorted(flags)] for section, flags in sections.items()}


def _in(body: str, named: dict[str, str]) -> list[dict[str, Any]]:
    flags = []
    for match in _ADDED.finditer(body):
        method, pointer, short = match[1], match[2], match[3]
        arguments = list(items(bracketed(body, match.end() - 1)))
        if method == "" and not pointer:
            continue
        target = arguments.pop(0) if pointer else ""
        if not arguments or method in ("MarkDeprecated", "SetNormalizeFunc", "MarkHidden"):
            continue
        name = arguments.pop(0)
        flag: dict[str, Any] = {"name": name.strip('"') if name[0] == '"' else named[name]}
        flag["type"] = _own_type(target) if not method else _go_type(method)
        if short:
            flag["shorthand"] = arguments.pop(0).strip('"')
        default = _literal(arguments[0]) if method and arguments else None
        if default not in (None, *_ZERO):
            flag["default"] = default
        flags.append(flag)
    return flags


def _go_type(method: str) -> str:
    """`stringSlice` of `StringSliceVar`, `ip` of `IPVar`."""
    return method.lower() if method.isupper() else f"{method[0].lower()}{method[1:]}"


def _own_type(target: str) -> str:
    for name, kind in _OWN_TYPES.items():
        if name in target:
            return kind
    raise SourceError(f"unknown kind of flag {target}")


def _literal(written: str) -> str | None:
    """The default as a command line has it; None where it is not written out."""
    minutes = _MINUTES.fullmatch(written)
    if minutes:
        return f"{minutes[1]}{'m0s' if minutes[2] == 'Minute' else 's'}"
    if re.fullmatch(r'"[^"]*"|true|false|\d+(\.\d+)?', written):
        return written.strip('"').removesuffix(".0")
    return None
