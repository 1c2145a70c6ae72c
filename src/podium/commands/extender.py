"""`podium extender`: serve a scheduler extender, one's own or the one for GPUs."""

from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter
from cyclopts.validators import Number

from podium.commands.exit_codes import OK
from podium.commands.extender_gpu import gpu
from podium.commands.line_logging import start_logging
from podium.commands.printing import print_line
from podium.golang.errors import InputError

extender = App(name="extender")
# A flag of Go's that is given twice has its last value.
extender.command(gpu, default_parameter=Parameter(allow_repeating=True))

DEFAULT_NAMES: Final = (
    "gpu-admission.kube-system.svc,gpu-admission.kube-system,gpu-admission,localhost,127.0.0.1"
)
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


@extender.command
def certificates(
    directory: Annotated[
        Path, Parameter(name="DIRECTORY", help="Where to; made if it is not there.")
    ],
    /,
    *,
    names: Annotated[
        str,
        Parameter(
            metavar="NAMES",
            help="Names and addresses that schedulers reach the extender by, with commas between.",
        ),
    ] = DEFAULT_NAMES,
    days: Annotated[
        int, Parameter(validator=Number(gte=1, lte=36500), help="For how long they are good.")
    ] = 3650,
) -> int:
    """Make certificates for an extender and for the schedulers that ask it.

    A CA signs one for the extender (`tls.crt`, `tls.key`) and one for schedulers (`client.crt`,
    `client.key`); `ca.crt` is what both sides are checked by. Its key is kept nowhere.

    **Examples**

    ```
    podium extender certificates gpu-admission-certificates
    podium extender certificates certificates --names extender.example.com,10.0.0.7
    ```

    **Exit code** 0, or 2 if the input is wrong or a file is there already.
    """
    from podium.addons.extenders.certificates import CA, CLIENT, SERVER, write_certificates

    named = [name.strip() for name in names.split(",") if name.strip()]
    if not named:
        raise InputError("--names names nothing", remedy="such as --names extender.example.com")
    write_certificates(directory, named, days)
    print_line(f"{directory}: {CA}, {', '.join(SERVER)} for the extender")
    print_line(f"{directory}: {CA}, {', '.join(CLIENT)} for its schedulers")
    return OK
