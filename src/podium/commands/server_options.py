"""Which API server a command works at that serves a cluster beside its control plane."""

from typing import Annotated

from cyclopts import Parameter

Kubeconfig = Annotated[
    str,
    Parameter(
        metavar="FILE",
        show_default=False,
        help="Where the server is. [default: $KUBECONFIG or ~/.kube/config]",
    ),
]
Context = Annotated[str, Parameter(show_default=False, help="The kubeconfig's context to use.")]
