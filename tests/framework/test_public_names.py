"""What plugins are written with is in one place, and stays there."""

from podium import framework


def test_the_names_that_plugins_may_rely_on() -> None:
    assert framework.__all__ == [
        "SKIP",
        "Action",
        "BindPlugin",
        "Code",
        "Cycle",
        "Dependence",
        "FilterPlugin",
        "Handle",
        "NodeFilterPlugin",
        "NodeScorePlugin",
        "NodeView",
        "PermitPlugin",
        "PermitResult",
        "Plugin",
        "PostBindPlugin",
        "PostFilterPlugin",
        "PostFilterResult",
        "PreBindPlugin",
        "PreEnqueuePlugin",
        "PreFilterPlugin",
        "PreFlight",
        "PreScorePlugin",
        "QueueSortPlugin",
        "Registration",
        "ReservePlugin",
        "Resource",
        "ScorePlugin",
        "Status",
        "Verdict",
        "choosing",
        "error",
        "per_row",
        "rejecting",
        "unresolvable",
        "unschedulable",
    ]
    assert all(hasattr(framework, name) for name in framework.__all__)
