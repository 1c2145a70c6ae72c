"""`podium controller`: a controller that a plugin of the scheduler needs beside it."""

from typing import Annotated, Final, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from podium.commands.exit_codes import OK
from podium.commands.line_logging import start_logging
from podium.commands.printing import print_line
from podium.commands.processes.defaults import CONTROLLER_WORKERS
from podium.commands.server_options import Context, Kubeconfig

_CONTROLLERS: Final = {"elasticquota": "elasticquotas", "podgroup": "podgroups"}
"""What users call a controller -> its name in the registry."""


def controller(
    name: Annotated[
        Literal["podgroup", "elasticquota"],
        Parameter(
            help="podgroup: keeps the status of Coscheduling's PodGroups. elasticquota: that of"
            " CapacityScheduling's ElasticQuotas."
        ),
    ],
    /,
    *,
    kubeconfig: Kubeconfig = "",
    context: Context = "",
    workers: Annotated[
        int,
        Parameter(validator=Number(gte=1, lte=64), help="How many objects are worked on at once."),
    ] = CONTROLLER_WORKERS,
    leader_elect: Annotated[
        bool,
        Parameter(
            show_default=False,
            help="Work only while holding a lease, so that several may be started.",
        ),
    ] = False,
    leader_elect_namespace: Annotated[
        str, Parameter(metavar="NAMESPACE", help="Where the lease is.")
    ] = "kube-system",
    verbose: Annotated[
        bool,
        Parameter(name=("--verbose", "-v"), negative=(), show_default=False, help="Log more."),
    ] = False,
) -> int:
    """Run a controller for a cluster that others run, until SIGTERM or Ctrl-C.

    `podgroup` walks PodGroups (scheduling.x-k8s.io/v1alpha1) through their phases and counts their
    members that run, succeeded and failed. The scheduler counts on it where members of a gang end
    one by one. `elasticquota` writes into ElasticQuotas what running pods of their namespace
    request, for people: the scheduler counts for itself. `podium up` and `podium nodes` have both
    built in. What they may do in the cluster is in examples/coscheduling/controller-rbac.yaml and
    examples/scheduler-plugins/quota-controller-rbac.yaml.

    **Examples**

    ```
    podium controller podgroup --kubeconfig ~/.kube/config
    podium controller podgroup --leader-elect --workers 4
    podium controller elasticquota
    kubectl get podgroups
    ```

    **Exit code** 0 after SIGTERM or SIGINT, 2 if the server cannot be reached, does not serve the
    kind, or the lease is lost.
    """
    import logging

    from podium.client.connection import find_settings
    from podium.commands.processes.event_loop import run
    from podium.commands.processes.run_controller import election_settings, run_controller

    start_logging(logging.INFO if verbose else logging.WARNING)
    settings = find_settings(kubeconfig, context)
    election = (
        election_settings(f"podium-{name}-controller", leader_elect_namespace)
        if leader_elect
        else None
    )
    server = settings.cluster.server
    run(
        run_controller(
            settings,
            _CONTROLLERS[name],
            workers=workers,
            election=election,
            on_started=lambda: print_line(f"podium: the {name} controller works at {server}"),
        )
    )
    print_line("podium: stopped", error=True)
    return OK
