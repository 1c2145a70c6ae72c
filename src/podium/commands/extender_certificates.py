"""`podium extender certificates`: what an extender and its schedulers know each other by."""

from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter
from cyclopts.validators import Number

from podium.commands.exit_codes import OK
from podium.commands.printing import print_line
from podium.golang.errors import InputError

DEFAULT_NAMES: Final = (
    "gpu-admission.kube-system.svc,gpu-admission.kube-system,gpu-admission,localhost,127.0.0.1"
)


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
