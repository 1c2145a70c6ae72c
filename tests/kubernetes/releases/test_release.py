"""Releases as values, and the data that they are read from."""

import pickle
import subprocess
import sys

import pytest

from podium.kubernetes.releases.entries import GateEntry
from podium.kubernetes.releases.feature_gates import FeatureGates, FeatureStage
from podium.kubernetes.releases.release import NEWEST, Release, Version, release
from podium.scheduler.config.flags.definitions import FLAG_TEXTS
from podium.scheduler.config.types import ExtensionPoint, points_of

READS = """
import sys
read = []
sys.addaudithook(lambda event, args: event == "open" and read.append(str(args[0])))
try:
    {}
except SystemExit:
    pass
print([path for path in read if path.endswith(".json")])
"""


def opened_data(statement: str) -> str:
    script = READS.format(statement)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()[-1]


def test_a_release_has_all_its_parts() -> None:
    known = release()
    assert known.version == NEWEST
    assert known.patch.startswith(f"v{NEWEST}.")
    assert known.gates["NodeDeclaredFeatures"][0] == GateEntry("1.35", "alpha")
    assert known.gate_dependencies["GangScheduling"] == ("GenericWorkload",)
    assert known.removed_gates["PodPriority"] == "1.18"
    assert known.plugins[0].name == "SchedulingGates"
    assert known.metrics["scheduler_pending_pods"].labels == ("queue",)
    assert {entry.name for flags in known.flags.values() for entry in flags} == set(FLAG_TEXTS)


def test_a_field_has_its_number_its_type_and_its_keys() -> None:
    fields = {field.name: field for field in release().types["core"]["PodSpec"].fields}
    volumes = fields["volumes"]
    assert (volumes.number, volumes.type, volumes.list_map_keys) == (1, "[]Volume", ("name",))
    assert (volumes.patch_strategy, volumes.patch_merge_key) == ("merge,retainKeys", "name")
    assert fields["containers"].required


def test_no_two_fields_of_a_message_have_one_number() -> None:
    for section in release().types.values():
        for name, entry in section.items():
            numbers = [field.number for field in entry.fields if field.number]
            assert len(numbers) == len(set(numbers)), name


def test_gates_are_named_by_what_depends_on_them() -> None:
    known = release()
    needed = {gate for gates in known.gate_dependencies.values() for gate in gates}
    assert needed | known.gate_dependencies.keys() <= known.gates.keys()
    assert {plugin.gate for plugin in known.plugins} - {""} <= known.gates.keys()


def test_every_point_of_a_release_can_be_configured() -> None:
    assert sorted(points_of(release())) == sorted(ExtensionPoint)


def test_another_process_gets_the_same_release() -> None:
    assert pickle.loads(pickle.dumps(release())) is release()
    gates = FeatureGates({"GenericWorkload": True}, emulated=Version(1, 35))
    assert pickle.loads(pickle.dumps(gates)) == gates


def test_an_entry_may_ask_for_peers_that_are_new_enough() -> None:
    known = Release(Version(1, 37))
    history = (GateEntry("1.36", "alpha"), GateEntry("1.37", "beta", True, False, "1.37"))
    vars(known).update(gates={"Fractions": history}, gate_dependencies={})
    assert not FeatureGates(of=known)["Fractions"]
    assert FeatureGates(of=known).known["Fractions"].stage is FeatureStage.ALPHA
    assert FeatureGates(of=known, oldest_peer=Version(1, 37))["Fractions"]


@pytest.mark.parametrize(
    "statement",
    [
        "import podium.kubernetes.releases.feature_gates, podium.kubernetes.schema",
        "from podium.commands.app import main; sys.argv = ['podium', '--help']; main()",
    ],
)
def test_data_is_read_when_something_is_asked_for(statement: str) -> None:
    assert opened_data(statement) == "[]"


def test_the_data_of_a_release_is_one_file() -> None:
    asked = "from podium.kubernetes.releases.release import release; release().gates"
    assert opened_data(asked).endswith("v1_36.json']")
