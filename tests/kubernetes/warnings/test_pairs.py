"""What collides is found as if each were compared with all before it, only sooner."""

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.warnings.pods import about_files, about_ports

PORTS = st.lists(
    st.fixed_dictionaries(
        {"containerPort": st.sampled_from([80, 81]), "protocol": st.sampled_from(["TCP", "UDP"])},
        optional={
            "hostPort": st.sampled_from([0, 1, 2]),
            "hostIP": st.sampled_from(["", "10.0.0.1", "10.0.0.2"]),
        },
    ),
    max_size=8,
)


def port_pairs(ports: list[dict[str, Any]]) -> Iterator[str]:
    def same(one: dict[str, Any], other: dict[str, Any], *fields: str) -> bool:
        return all((one.get(field) or None) == (other.get(field) or None) for field in fields)

    for number, port in enumerate(ports):
        for before, other in enumerate(ports[:number]):
            if not same(port, other, "containerPort", "protocol"):
                continue
            if same(port, other, "hostIP", "hostPort"):
                how = "duplicate"
            elif not port.get("hostPort") or not other.get("hostPort"):
                how = "overlapping"
            elif same(port, other, "hostPort") and bool(port.get("hostIP")) != bool(
                other.get("hostIP")
            ):
                how = "dangerously ambiguous"
            else:
                continue
            yield f"c.ports[{number}]: {how} port definition with c.ports[{before}]"


@given(PORTS)
def test_ports_collide_as_every_two_of_them_say(ports: list[dict[str, Any]]) -> None:
    told = about_ports([({"ports": ports}, "c")])

    assert [each for each in told if "definition" in each] == list(port_pairs(ports))


def path_pairs(paths: list[str]) -> Iterator[str]:
    before: list[str] = []
    for path in (each.rstrip("/") for each in paths):
        for other in before:
            one, two = f"{path}/", f"{other}/"
            if path and other and (one.startswith(two) or two.startswith(one)):
                yield f'volume "v" (DownwardAPI): overlapping paths: "{path}" with "{other}"'
        before.append(path)


@given(st.lists(st.sampled_from(["", "a", "a/", "a/b", "a/b/c", "ab", "b", "a-b", "b/c"])))
def test_files_overlap_as_every_two_of_them_say(paths: list[str]) -> None:
    items = [{"path": path} for path in paths]
    told = about_files({"name": "v", "downwardAPI": {"items": items}})

    assert list(dict.fromkeys(told)) == list(dict.fromkeys(path_pairs(paths)))
