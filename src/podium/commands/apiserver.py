"""`podium apiserver`: an API server in one process, for kubectl and client libraries."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from podium.commands.api_server_options import (
    DataRecover,
    RuntimeConfigFlag,
    read_runtime_config,
    require_data,
)
from podium.commands.exit_codes import OK
from podium.commands.line_logging import start_logging
from podium.commands.options import Gates
from podium.commands.printing import print_line
from podium.golang.errors import InputError

_SHORTEST_TOKEN = 16


def apiserver(
    *,
    host: Annotated[str, Parameter(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to listen on; 0 takes a free one.")] = 6443,
    data: Annotated[
        Path | None,
        Parameter(help="Directory to keep objects in; without it they live in memory."),
    ] = None,
    data_recover: DataRecover = False,
    kubeconfig_out: Annotated[
        Path | None,
        Parameter(
            help="Where to write the kubeconfig. [default: podium.kubeconfig, or kubeconfig in the"
            " data directory]"
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        Parameter(help="File with the bearer token to expect; without it one is made."),
    ] = None,
    feature_gates: Gates = None,
    runtime_config: RuntimeConfigFlag = None,
    plain: Annotated[
        bool,
        Parameter(
            name=["--plain"],
            negative="--tls",
            help="HTTP without TLS and without a token; only on loopback.",
        ),
    ] = False,
) -> int:
    """Serve the Kubernetes API from this process, with no other software.

    Objects are defaulted, validated, admitted, stored and watched as by kube-apiserver 1.36.
    Nothing runs behind the API: no scheduler, no controllers, no nodes but those that clients
    create.

    The server listens on loopback with a certificate that it makes, and expects a token. Both are
    in the kubeconfig that it writes, which only you can read. With `--data` objects, certificates
    and token are kept: every acknowledged write survives a crash.

    Feature gates decide what is served besides: `GenericWorkload` brings Workloads and PodGroups.

    **Examples**

    ```
    podium apiserver &
    export KUBECONFIG=$PWD/podium.kubeconfig
    kubectl create deployment web --image nginx
    podium apiserver --feature-gates GenericWorkload=true,GangScheduling=true
    podium apiserver --port 0 --data ./cluster --kubeconfig-out ~/.kube/podium
    ```

    **Exit code** 0 after SIGTERM or SIGINT, 2 if the server cannot be started or its store cannot
    be written.
    """
    import logging

    from podium.apiserver.serving.kubeconfig import write_kubeconfig
    from podium.apiserver.serving.server import ApiServer, ServerOptions, run
    from podium.commands.feature_gate_flags import read_gates
    from podium.scheduler.engine.garbage import seldom_collected

    start_logging(logging.WARNING)
    gates = read_gates(feature_gates)
    require_data(data, recovers=data_recover)
    options = ServerOptions(
        host=host,
        port=port,
        data=data,
        recovers_data=data_recover,
        plain=plain,
        token=_token(token_file) if token_file else "",
        gates=gates,
        runtime_config=read_runtime_config(runtime_config, gates),
    )
    server = ApiServer(options)
    target = kubeconfig_out or (data / "kubeconfig" if data else Path("podium.kubeconfig"))
    authority = server.certificates.authority if server.certificates else None
    try:
        write_kubeconfig(target, server.url, server.token, authority)
    except InputError:
        server.close()
        raise
    if server.recovered:
        print_line(f"podium: warning: {server.recovered}", error=True)
    kept = f"objects in {data}" if data else "objects in memory"
    print_line(f"podium: serving {server.url}, {kept}, kubeconfig in {target}")
    with seldom_collected():
        run(server)
    print_line("podium: stopped", error=True)
    return OK


def _token(path: Path) -> str:
    from podium.net.files.bounded_files import read_input

    token = read_input(str(path)).decode(errors="replace").strip()
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or any(each.isspace() for each in token):
        raise InputError(
            f"holds no token of at least {_SHORTEST_TOKEN} characters without spaces",
            source=str(path),
            remedy="openssl rand -hex 32 makes one",
        )
    return token
