"""Options of commands that set configurations side by side, and what they are measured by."""

from typing import Annotated

from cyclopts import Parameter

Configs = Annotated[
    list[str] | None,
    Parameter(
        name=["--config"],
        negative="",
        metavar="FILE",
        help="A KubeSchedulerConfiguration, or default for kube-scheduler's defaults. The "
        "others are compared with the first. May be repeated.",
    ),
]
SeedCount = Annotated[
    int,
    Parameter(
        name=["--seeds"],
        metavar="N",
        help="Runs of each configuration with each input. The first has the pods in the order of "
        "the input, the others in an order that their seed decides.",
    ),
]
TypicalPod = Annotated[
    str | None,
    Parameter(
        name=["--typical-pod"],
        metavar="cpu=2,memory=4Gi",
        help="What is free where this pod does not fit is fragmented. Left out: a pod with the "
        "median requests of the pods to place.",
    ),
]
Prices = Annotated[
    list[str] | None,
    Parameter(
        name=["--prices"],
        negative="",
        metavar="NODES:PRICE",
        help="What each of these nodes costs; nodes are a name or labels: pool=general:0.10. "
        "Left out: their annotation or label podium.dev/price. May be repeated.",
    ),
]
FailIf = Annotated[
    list[str] | None,
    Parameter(
        name=["--fail-if"],
        negative="",
        metavar="CONDITION",
        help="Exit with 1 if this is so of any configuration, on average over seeds: 'pending "
        "> 0'. METRIC.difference is about what others have more than the first. May be "
        "repeated.",
    ),
]
