"""`podium extender`: serve a scheduler extender that is written in Python."""

import logging
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated

from cyclopts import App, Parameter

from podium.api.errors import InputError, closest, did_you_mean
from podium.cli.exit_codes import OK
from podium.cli.line_logging import start_logging
from podium.cli.printing import print_line
from podium.cli.user_code import broken, load_code
from podium.extenders import Extender
from podium.extenders.extender import verbs_of
from podium.extenders.serving import Listening, serve

extender = App(name="extender")

_FORMS = "an extender is given as FILE.py, FILE.py:Class or package.module:Class"
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
    podium extender serve licences:Licences --port 8443 --tls-cert tls.crt --tls-key tls.key
    ```
    """
    start_logging(logging.DEBUG if verbose else logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.INFO if verbose else logging.WARNING)
    if max_request_mib < 1:
        raise InputError("--max-request-mib must be at least 1")
    served = _built(load_extender(code))
    name, verbs = type(served).__name__, ", ".join(verbs_of(served))
    listening = Listening(
        host=host,
        port=port,
        certificate=tls_cert,
        key=tls_key,
        client_ca=client_ca,
        body_limit=max_request_mib << 20,
    )

    def announce(url: str) -> None:
        if listening.is_open_to_all:
            print_line(_OPEN_TO_ALL.format(name=name, host=host), error=True)
        print_line(f"{name} serves {verbs} on {url}")

    serve(served, listening, announce)
    return OK


def load_extender(spec: str) -> type[Extender]:
    """The class that the command line names; if it names none, the only one there is."""
    code = load_code(spec, "extender", _FORMS)
    own = _classes(code.module)
    if code.name is not None:
        return _named(code.module, code.where, code.name, own)
    if len(own) == 1:
        return own[0]
    if own:
        names = ", ".join(kind.__name__ for kind in own)
        remedy = f"say which: {code.where}:{own[0].__name__}"
        raise InputError(f"holds {len(own)} extenders: {names}", source=code.where, remedy=remedy)
    remedy = "an extender is a class that inherits podium.extenders.Extender"
    raise InputError("holds no extender", source=code.where, remedy=remedy)


def _classes(module: ModuleType) -> list[type[Extender]]:
    return [
        thing
        for thing in dict.fromkeys(t for t in vars(module).values() if isinstance(t, type))
        if issubclass(thing, Extender) and thing.__module__ == module.__name__
    ]


def _named(module: ModuleType, where: str, name: str, own: list[type[Extender]]) -> type[Extender]:
    found = getattr(module, name, None)
    if isinstance(found, type) and issubclass(found, Extender):
        return found
    names = [kind.__name__ for kind in own]
    remedy = did_you_mean(closest(name, names)) or (names and f"there is {', '.join(names)}") or ""
    if found is None:
        raise InputError(f"has no class {name}", source=where, remedy=remedy)
    problem = f"{name} is not an extender: it does not inherit podium.extenders.Extender"
    raise InputError(problem, source=where, remedy=remedy)


def _built(kind: type[Extender]) -> Extender:
    try:
        built = kind()
    except (Exception, SystemExit) as problem:
        raise broken(
            problem, kind.__name__, sys.modules[kind.__module__].__file__ or ""
        ) from problem
    if not verbs_of(built):
        raise InputError(
            f"{kind.__name__} serves nothing", remedy="write filter, prioritize, preempt or bind"
        )
    return built
