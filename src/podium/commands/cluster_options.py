"""Which cluster a command is about, where it is one that runs: the options, and their meaning.

Contract: without files the cluster is the one that kubectl would speak to; with files only one that
the command line names, so that a simulation of files never depends on a kubeconfig that happens to
be there.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from podium.golang.errors import InputError

if TYPE_CHECKING:  # a client is loaded when a cluster is read
    from podium.client.connection import FoundContext
    from podium.scheduler.explain.proposals.shell import Kubectl

_DEFAULT_NAMESPACE: Final = "default"
NO_INPUT: Final = "give files, directories or - with -f, or a cluster with --kubeconfig"


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class ClusterOptions:
    kubeconfig: Annotated[
        str | None,
        Parameter(
            name=["--kubeconfig"],
            metavar="FILE",
            help="Read the cluster of this kubeconfig, and only read. Left out, and without files: "
            "that of $KUBECONFIG, of ~/.kube/config, or the one that the command runs in.",
        ),
    ] = None
    context: Annotated[
        str | None,
        Parameter(
            name=["--context"], metavar="NAME", help="Another context than the kubeconfig's own."
        ),
    ] = None
    namespace: Annotated[
        str | None,
        Parameter(
            name=["--namespace", "-n"],
            metavar="NAME",
            help="The namespace of the pod, and of objects in files that name none. Left out: the "
            "context's is looked in first, then all others.",
        ),
    ] = None

    def is_live(self, *, has_files: bool) -> bool:
        """Whether a cluster is to be read."""
        return self.is_named or not has_files

    @property
    def is_named(self) -> bool:
        return self.kubeconfig is not None or self.context is not None

    @property
    def kubectl(self) -> "Kubectl":
        """kubectl for the cluster that the question was about."""
        from podium.scheduler.explain.proposals.shell import Kubectl

        return Kubectl(self.kubeconfig or "", self.context or "")

    def find(self) -> "FoundContext":
        """Raises InputError."""
        from podium.client.connection import NoKubeconfig, find_context

        try:
            return find_context(self.kubeconfig or "", self.context or "")
        except NoKubeconfig:
            if self.is_named:
                raise
            raise InputError("no input", remedy=NO_INPUT) from None

    def file_namespace(self, found: "FoundContext | None") -> str:
        """The namespace of objects that name none."""
        return self.namespace or (found.namespace if found else "") or _DEFAULT_NAMESPACE


FILES_ONLY: Final = ClusterOptions()
"""Nothing was said about a cluster."""
