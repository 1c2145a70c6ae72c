"""`podium extender`: serve a scheduler extender, one's own or the one for GPUs."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from podium.commands.exit_codes import OK
from podium.commands.extender_certificates import certificates
from podium.commands.extender_gpu import gpu
from podium.commands.line_logging import start_logging
from podium.commands.printing import print_line
from podium.golang.errors import InputError

extender = App(name="extender")
# A flag of Go's that is given twice has its last value.
extender.command(gpu, default_parameter=Parameter(allow_repeating=True))
extender.command(certificates)

_OPEN_TO_ALL = (
    "podium: {name} answers whoever reaches {host}, in plain text: --tls-cert and --tls-key"
    " encrypt, --client-ca says who may ask"
)


@extender.command(name="serve")
def serve_command(
    code: Annotated[
        str, Parameter(name="EXTENDER", help="FILE.py, FILE.py:Class or package.module:Class.")
    ],
    /,
    *,
    host: Annotated[str, Parameter(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to listen on; 0 takes a free one.")] = 8888,
    path_prefix: Annotated[
        str,
        Parameter(
            metavar="PATH",
            show_default=False,
            help="Answer below this path too, as in a urlPrefix http://HOST:PORT/scheduler.",
        ),
    ] = "",
    tls_cert: Annotated[Path | None, Parameter(help="Certificate (PEM): serve HTTPS.")] = None,
    tls_key: Annotated[Path | None, Parameter(help="Its private key (PEM).")] = None,
    client_ca: Annotated[
        Path | None, Parameter(help="Only take clients with a certificate of this CA (PEM).")
    ] = None,
    max_request_mib: Annotated[int, Parameter(help="Largest request that is read.")] = 16,
    verbose: Annotated[
        bool, Parameter(name=("--verbose", "-v"), negative=(), help="Log more.")
    ] = False,
) -> int:
    """Serve an extender over HTTP until SIGTERM or Ctrl-C.

    Beside the verbs that its class has written there are `/healthz`, `/readyz` and `/metrics`.

    **Examples**

    ```
    podium extender serve examples/extenders/rack_power.py
    podium extender serve mine.py --port 12346 --path-prefix /scheduler
    podium extender serve licences:Licences --port 8443 --tls-cert tls.crt --tls-key tls.key
    ```
    """
    import logging

    from podium.addons.extenders.serving import Listening, serve
    from podium.client.extenders.extender import verbs_of
    from podium.user_code.extenders import build_extender, load_extender

    start_logging(logging.DEBUG if verbose else logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.INFO if verbose else logging.WARNING)
    if max_request_mib < 1:
        raise InputError("--max-request-mib must be at least 1")
    served = build_extender(load_extender(code))
    name, verbs = type(served).__name__, ", ".join(verbs_of(served))
    listening = Listening(
        host=host,
        port=port,
        certificate=tls_cert,
        key=tls_key,
        client_ca=client_ca,
        body_limit=max_request_mib << 20,
        prefix=path_prefix.strip("/"),
    )

    def announce(url: str) -> None:
        if listening.is_open_to_all:
            print_line(_OPEN_TO_ALL.format(name=name, host=host), error=True)
        below = f", also below /{listening.prefix}" if listening.prefix else ""
        print_line(f"{name} serves {verbs} on {url}{below}")

    serve(served, listening, announce)
    return OK
