"""Writes that plugins leave behind after a failure, carried out on the cluster in memory."""

from support.scheduler.plugins.device_builders import (
    allocated,
    claiming_pod,
    exactly,
    make_claim,
    make_class,
    make_slice,
)

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import Namespace
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.driver.in_memory_api import run_to_end
from podium.offline.simulate import PodOutcome, Scenario, Simulation
from podium.scheduler.config.load import load_configuration
from podium.scheduler.plugins import in_tree_registry
from podium.scheduler.plugins.dynamic_resources.claim_writing import (
    Deallocate,
    DeleteClaim,
    ReleaseReservation,
)
from podium.testing import make_node, make_pod

SLICE = make_slice("p", ["d"], node="n1")


def simulation(*pending: Pod, objects: tuple[KubeStruct, ...] = ()) -> Simulation:
    nodes = (make_node("n1", labels={"kubernetes.io/hostname": "n1"}),)
    scenario = Scenario(nodes, (), pending, (make_class(), SLICE, *objects))
    return Simulation(
        scenario,
        load_configuration(None, gates=FeatureGates()),
        in_tree_registry(),
        validate=True,
        gates=FeatureGates(),
    )


def write(made: Simulation, what: object) -> None:
    info = made.engine.cluster.infos.of(make_pod("asks"))
    made.engine.state.ask_writes(info, [what])
    made.settle()


def claim_in(made: Simulation, name: str = "c") -> ResourceClaim | None:
    return made.engine.cluster.catalog.get(ResourceClaim, name, "default")


def test_an_idle_claim_that_is_allocated_elsewhere_is_given_back_and_the_pod_placed() -> None:
    stuck = make_claim("c", exactly("r"), status=allocated("r=q/x", node="gone"))
    made = simulation(claiming_pod("pod", "c"), objects=(stuck,))
    report = made.run()
    (result,) = report.pods
    assert (result.outcome, result.node, result.attempts) == (PodOutcome.PLACED, "n1", 2)
    woken = [line for line in report.timeline.life("default/pod") if line.what == "woken"]
    assert woken[0].about == "ResourceClaim default/c"
    assert woken[0].plugins == ("DynamicResources",)
    settled = claim_in(made)
    assert settled is not None
    assert settled.status.allocation is not None
    assert [user.name for user in settled.status.reserved_for or ()] == ["pod"]


def test_a_claim_that_has_moved_on_is_not_given_back() -> None:
    held = make_claim("c", exactly("r"), status=allocated("r=p/d", node="n1"))
    made = simulation(objects=(held,))
    outdated = make_claim("c", exactly("r"), status=allocated("r=q/x", node="gone"))
    write(made, Deallocate(outdated))
    assert claim_in(made) is held


def test_one_user_of_a_claim_is_taken_out() -> None:
    shared = make_claim(
        "c", exactly("r"), status=allocated("r=p/d", node="n1", users=["one", "two"])
    )
    made = simulation(objects=(shared,))
    write(made, ReleaseReservation(shared, "one"))
    left = claim_in(made)
    assert left is not None
    assert [user.uid for user in left.status.reserved_for or ()] == ["two"]
    assert left.status.allocation is not None


def test_a_claim_is_deleted_once() -> None:
    claim = make_claim("c", exactly("r"))
    made = simulation(objects=(claim,))
    write(made, DeleteClaim(claim))
    assert claim_in(made) is None
    write(made, DeleteClaim(claim))


def test_a_new_claim_of_the_same_name_is_another_one() -> None:
    made = simulation(objects=(make_claim("c", exactly("r")),))
    write(made, DeleteClaim(make_claim("c", exactly("r"), uid="another")))
    assert claim_in(made) is not None


def test_a_write_that_nobody_here_knows_is_passed_over() -> None:
    write(simulation(), "send a postcard")


def test_names_that_start_alike_are_made_up_anew_and_the_same_in_every_run() -> None:
    async def create_two(made: Simulation) -> list[str]:
        found = [await made._api.create(Namespace(), generate_name="shop-") for _ in range(2)]
        return [each.name for each in found]

    first, second = (run_to_end(create_two(simulation())) for _ in range(2))
    assert first == second
    assert len(set(first)) == 2
