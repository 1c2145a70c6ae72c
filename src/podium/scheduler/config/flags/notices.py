"""What a user should know about flags and files that are taken and do not mean all they say.

A legacy flag is a warning, with what to write today; a flag without effect is said once, with the
reason; one that a file takes the place of, with its place there; an older configuration format
says until when it was read.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from podium.kubernetes.releases.release import release
from podium.scheduler.config.flags.definitions import INSTEAD
from podium.scheduler.config.flags.options import Options
from podium.scheduler.config.flags.parser import all_flags
from podium.scheduler.config.types import API_VERSION, KIND, Configuration
from podium.scheduler.config.versions import V1BETA1

_IGNORED_WITH_FILE: Final = (
    "hard-pod-affinity-symmetric-weight",
    "lock-object-name",
    "lock-object-namespace",
    "scheduler-name",
)
_IN_THE_FILE: Final = {
    "contention-profiling": "enableContentionProfiling",
    "kube-api-burst": "clientConnection.burst",
    "kube-api-content-type": "clientConnection.contentType",
    "kube-api-qps": "clientConnection.qps",
    "kubeconfig": "clientConnection.kubeconfig",
    "profiling": "enableProfiling",
}
"""Deprecated flags that a file takes the place of, and where it says what they would."""
_PROVIDER: Final = "algorithm-provider"
_FORMATS: Final = {
    "v1beta1": f"{KIND} v1beta1 and Policy were removed in v1.23",
    "v1beta2": f"{KIND} v1beta2 is deprecated in v1.25, will be removed in v1.28",
    "v1beta3": f"{KIND} v1beta3 is deprecated in v1.26, will be removed in v1.29",
}


def legacy_warnings(given: Sequence[str], options: Options) -> Iterator[str]:
    """One for each legacy flag on the command line."""
    for name in given:
        flag = all_flags(release())[name]
        if not flag.until:
            continue
        since = f"Flag --{name} has been deprecated, kube-scheduler had it until {flag.until}"
        if flag.idle:
            yield f"{since}; it has no effect: {flag.idle}"
        elif name in _IGNORED_WITH_FILE and options.config:
            yield f"{since}; it is ignored with --config"
        else:
            yield f"{since}; {INSTEAD[name]}"


def idle_notes(given: Sequence[str]) -> Iterator[str]:
    """One for each current flag on the command line that changes nothing here."""
    for name in given:
        flag = all_flags(release())[name]
        if flag.idle and not flag.until:
            yield f"--{name} has no effect in Podium: {flag.idle}"


def configuration_notices(configuration: Configuration, options: Options) -> Iterator[str]:
    version = configuration.api_version.rpartition("/")[2]
    for name in options.given if options.config else ():
        if name in _IN_THE_FILE:
            field = _IN_THE_FILE[name]
            yield f"--{name} is ignored with --config: what counts is {field} in {options.config}"
    if options.config and configuration.api_version != API_VERSION:
        yield _FORMATS[version]
    if options.config and _PROVIDER in options.given and version != V1BETA1.name:
        yield f"--{_PROVIDER} is ignored: {KIND} {version} has its own default plugins"
    yield from configuration.notes
    yield from (found.warning(options.config) for found in configuration.findings)


def policy_notices(before: Configuration, after: Configuration, options: Options) -> Iterator[str]:
    """What a Policy that flags name has added to a configuration that was told of already."""
    yield from after.notes[len(before.notes) :]
    source = options.legacy.policy_config_file
    if options.legacy.policy_configmap and not options.legacy.use_legacy_policy_config:
        source = options.legacy.policy_configmap
    new = after.findings[len(before.findings) :]
    yield from (found.warning(source) for found in new)
