"""`podium extender gpu`: the extender for shared GPUs, in the place of a dialect's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from podium.addons.gpu.extender import PREEMPTION_THRESHOLD_PERCENT
from podium.commands.exit_codes import OK
from podium.commands.line_logging import start_logging
from podium.commands.printing import print_line
from podium.commands.server_options import Context, Kubeconfig
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.scheduler.config.flags.client_settings import ClientSettings


Dialect = Literal[
    "gpu-manager", "gpu-scheduler", "gpushare", "gpushare-mib", "hami", "vgpu-manager"
]
_IGNORED: Final = Parameter(show=False, negative=())
_OLD_SWITCH = Annotated[bool, _IGNORED]
_OLD_TEXT = Annotated[str, _IGNORED]


def gpu(
    *,
    dialect: Annotated[
        Dialect, Parameter(help="The dialect of the agents on the nodes (docs/gpu-dialects.md).")
    ] = "gpu-manager",
    address: Annotated[
        str, Parameter(metavar="HOST:PORT", help="Where to listen; port 0 takes a free one.")
    ] = "127.0.0.1:3456",
    kubeconfig: Kubeconfig = "",
    context: Context = "",
    master: Annotated[
        str,
        Parameter(metavar="URL", show_default=False, help="The server, instead of its own one."),
    ] = "",
    path_prefix: Annotated[
        str,
        Parameter(
            metavar="PATH",
            show_default=False,
            help="Where verbs are served. [default: /scheduler, for gpushare also"
            " /gpushare-scheduler]",
        ),
    ] = "",
    config: Annotated[
        str,
        Parameter(metavar="FILE", show_default=False, help="JSON as gpu-admission's --config."),
    ] = "",
    quota_file: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            show_default=False,
            help="Quotas by namespace (gpu_quota.json) instead of those of the ConfigMap.",
        ),
    ] = None,
    grace_period: Annotated[
        str,
        Parameter(metavar="DURATION", help="How long a decision counts without a binding."),
    ] = "30s",
    preempt_threshold: Annotated[
        int,
        Parameter(
            validator=Number(gte=0, lte=100),
            help="Evict only from nodes with that many percent of cores or memory in use.",
        ),
    ] = PREEMPTION_THRESHOLD_PERCENT,
    preempt_strategy: Annotated[
        Literal["fifo", "lifo"],
        Parameter(help="Of equal pods evict the newest (fifo) or the oldest (lifo)."),
    ] = "fifo",
    tls_cert: Annotated[
        Path | None, Parameter(show_default=False, help="Certificate (PEM): serve HTTPS.")
    ] = None,
    tls_key: Annotated[
        Path | None, Parameter(show_default=False, help="Its private key (PEM).")
    ] = None,
    client_ca: Annotated[
        Path | None,
        Parameter(
            show_default=False, help="Only take clients with a certificate of this CA (PEM)."
        ),
    ] = None,
    allow_unauthenticated: Annotated[
        bool,
        Parameter(
            negative=(),
            help="Listen beyond loopback without --client-ca: whoever reaches it can have any pod"
            " bound.",
        ),
    ] = False,
    allowed_hosts: Annotated[
        str,
        Parameter(
            metavar="NAMES",
            show_default=False,
            help="Names that clients without a certificate reach it by, with commas between them,"
            " beside localhost and addresses.",
        ),
    ] = "",
    max_request_mib: Annotated[
        int, Parameter(validator=Number(gte=1), help="Largest request that is read.")
    ] = 16,
    v: Annotated[int, Parameter(name=("--v", "-v"), help="Log more from 1 on.")] = 0,
    node_cache_capable: Annotated[
        bool, Parameter(name=("--node-cache-capable", "--nodeCacheCapable"), show=False)
    ] = False,
    enable_compute_capability: Annotated[
        bool, Parameter(name="--enableComputeCapability", show=False)
    ] = False,
    pprof_address: Annotated[str, Parameter(name="--pprofAddress", show=False)] = "",
    incluster_mode: _OLD_SWITCH = False,
    logtostderr: _OLD_SWITCH = False,
    alsologtostderr: _OLD_SWITCH = False,
    stderrthreshold: _OLD_TEXT = "",
    vmodule: _OLD_TEXT = "",
    log_dir: _OLD_TEXT = "",
    log_backtrace_at: _OLD_TEXT = "",
) -> int:
    """Serve the extender for shared GPUs until SIGTERM or Ctrl-C.

    It takes the place of gpu-admission, gpu-scheduler, or the extenders of gpushare, HAMi and
    vgpu-manager, and leaves the agents on the nodes as they are. Verbs are `filter`,
    `filter-dryrun`, `prioritize`, `bind`, `preempt`, and for the older wiring `predicates` and
    `priorities`; pages are `version`, `inspect` and `inspect/NODE`, `/healthz`, `/readyz` and
    `/metrics`. Names of nodes and whole nodes are both taken, whatever `--node-cache-capable` says.
    Flags of gpu-admission that mean nothing here are accepted.

    One extender serves a cluster at a time: docs/gpu-extender.md says why, and how schedulers are
    configured.

    **Examples**

    ```
    podium extender gpu --kubeconfig ~/.kube/config
    podium extender gpu --dialect gpu-scheduler --address 0.0.0.0:3456 \\
        --tls-cert tls.crt --tls-key tls.key --client-ca ca.crt
    podium extender gpu --dialect hami --quota-file gpu_quota.json --preempt-threshold 0
    curl -s http://127.0.0.1:3456/scheduler/inspect
    ```

    **Exit code** 0 after SIGTERM or SIGINT, 2 if the input is wrong.
    """
    import logging

    from podium.addons.extenders.serving import Listening
    from podium.addons.gpu.dialects import find_dialect
    from podium.addons.gpu.extender.application import GPUExtenderOptions
    from podium.addons.gpu.extender.cluster_view import GPUExtenderFile, read_config_file
    from podium.addons.gpu.extender.preemption import PreemptionSettings, PreemptionStrategy
    from podium.commands.processes.event_loop import run
    from podium.commands.processes.run_gpu_extender import run_gpu_extender
    from podium.net.files.bounded_files import read_input

    del node_cache_capable, enable_compute_capability, pprof_address, incluster_mode, logtostderr
    del alsologtostderr, stderrthreshold, vmodule, log_dir, log_backtrace_at
    start_logging(logging.DEBUG if v >= 4 else logging.INFO if v else logging.WARNING)
    file = read_config_file(read_input(config), config) if config else GPUExtenderFile()
    host, port = _host_and_port(address)
    listening = Listening(
        host=host,
        port=port,
        certificate=tls_cert,
        key=tls_key,
        client_ca=client_ca,
        allowed_hosts=tuple(name.strip().lower() for name in allowed_hosts.split(",") if name),
        body_limit=max_request_mib << 20,
    )
    lets_in_everybody = not listening.is_on_loopback and client_ca is None
    if lets_in_everybody and not allow_unauthenticated:
        raise InputError(
            f"--address {address} is reached by others, who could have any pod bound",
            remedy="--tls-cert, --tls-key and --client-ca let in who has a certificate"
            " (podium extender certificates makes them); --allow-unauthenticated lets in everybody",
        )
    options = GPUExtenderOptions(
        dialect=find_dialect(dialect),
        prefix=path_prefix,
        grace_period_s=_seconds(grace_period),
        quota_config_map=(file.quota_config_map_namespace, file.quota_config_map_name),
        quota_file=quota_file,
        model_label=file.gpu_model_label,
        pool_label=file.gpu_pool_label,
        preemption=PreemptionSettings(preempt_threshold, PreemptionStrategy(preempt_strategy)),
        body_limit=listening.body_limit,
    )
    settings = _settings(kubeconfig, context, master)

    def announce(url: str) -> None:
        if lets_in_everybody:
            print_line(
                f"podium: WARNING: the GPU extender has pods bound for whoever reaches {host}: "
                "--tls-cert and --tls-key encrypt, --client-ca says who may ask",
                error=True,
            )
        print_line(f"podium: the GPU extender ({dialect}) listens at {url}")

    run(
        run_gpu_extender(
            settings,
            options,
            listening,
            on_listening=announce,
            on_ready=lambda: print_line(
                f"podium: the GPU extender knows the cards at {settings.cluster.server}"
            ),
        )
    )
    print_line("podium: stopped", error=True)
    return OK


def _settings(kubeconfig: str, context: str, master: str) -> ClientSettings:
    from msgspec.structs import replace

    from podium.client.connection import find_settings
    from podium.scheduler.config.flags.client_settings import ClientSettings
    from podium.scheduler.config.kubeconfig import ClusterEntry, UserEntry

    if master and not kubeconfig:
        return ClientSettings(ClusterEntry(server=master), UserEntry())
    settings = find_settings(kubeconfig, context)
    if not master:
        return settings
    return ClientSettings(replace(settings.cluster, server=master), settings.user)


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise InputError(f"--address {address}: right is HOST:PORT, such as 127.0.0.1:3456")
    return host.strip("[]") or "0.0.0.0", int(port)


def _seconds(text: str) -> float:
    from podium.golang.durations import Duration, DurationError

    try:
        seconds = Duration.parse(text).seconds
    except DurationError:
        seconds = 0.0
    if seconds < 1:
        raise InputError(f"--grace-period {text}: right is a second or more, such as 30s or 2m")
    return seconds
