"""Scheduler configurations that are as large as an object, and hard to read or to schedule by.

A configuration often comes from a ConfigMap, which is as large as an object can be. Each of these
fills one list of it: the file is refused, or pods are scheduled by it, in bounded time.
Tests bound the work; `podium.bench.hostile_pods` says what the size is.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from podium.bench.hostile_bodies import LazyTable
from podium.bench.hostile_pods import RANK, Object, expression, fill_room, term

MAX_VALUES: Final = 20_000
"""What Podium reads of a configuration: keys and values, at any depth."""
_RESERVED: Final = 200
_V1: Final = "kubescheduler.config.k8s.io/v1"


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(1 + _count(each) for each in value.values())
    if isinstance(value, list):
        return 1 + sum(map(_count, value))
    return 1


def fill(make: Callable[[int], Any], share: int = 1) -> list[Any]:
    """As many entries as a configuration has room for, or the given part of it."""
    return fill_room(make, (MAX_VALUES - _RESERVED) // share, _count)


def fill_map(make: Callable[[int], tuple[str, Any]]) -> dict[str, Any]:
    return dict(fill(make))


def _configuration(**fields: Any) -> Object:
    return {"apiVersion": _V1, "kind": "KubeSchedulerConfiguration", **fields}


def _profile(**fields: Any) -> Object:
    return _configuration(profiles=[{"schedulerName": "default-scheduler", **fields}])


def _arguments(plugin: str, **args: Any) -> Object:
    typed = {"apiVersion": _V1, "kind": f"{plugin}Args", **args}
    return _profile(pluginConfig=[{"name": plugin, "args": typed}])


def _score_by(*resources: Mapping[str, Any], kind: str = "LeastAllocated", **more: Any) -> Object:
    strategy = {"type": kind, "resources": list(resources), **more}
    return _arguments("NodeResourcesFit", scoringStrategy=strategy)


def _affinity(**affinity: Any) -> Object:
    return _arguments("NodeAffinity", addedAffinity=affinity)


def _require(*terms: Object) -> Object:
    return _affinity(requiredDuringSchedulingIgnoredDuringExecution={"nodeSelectorTerms": terms})


def _resource(number: int) -> Object:
    return {"name": f"example.com/r{number}", "weight": 1}


def _point(number: int, step: float = 1) -> Object:
    return {"utilization": min(100, int(number * step)), "score": number % 11}


def _extender(number: int, **more: Any) -> Object:
    return {"urlPrefix": f"http://127.0.0.1:9/{number}", "filterVerb": "filter", **more}


def _policy(**fields: Any) -> Object:
    return {"apiVersion": "v1", "kind": "Policy", **fields}


CONFIGURATIONS: Final = LazyTable[Object](
    {
        "profiles": lambda: _configuration(
            profiles=fill(lambda number: {"schedulerName": f"s{number}"})
        ),
        "profiles of one name": lambda: _configuration(
            profiles=fill(lambda _: {"schedulerName": "s"})
        ),
        "200 profiles with long lists": lambda: _configuration(
            profiles=[
                {
                    "schedulerName": f"s{profile}",
                    "plugins": {
                        "score": {"disabled": fill(lambda n: {"name": f"p{n}"}, share=220)}
                    },
                }
                for profile in range(200)
            ]
        ),
        "200 profiles with affinity of their own": lambda: _configuration(
            profiles=[
                {
                    "schedulerName": f"s{profile}" if profile else "default-scheduler",
                    "pluginConfig": [
                        {
                            "name": "NodeAffinity",
                            "args": {
                                "addedAffinity": {
                                    "requiredDuringSchedulingIgnoredDuringExecution": {
                                        "nodeSelectorTerms": fill(
                                            lambda n: term(expression(RANK, "Gt", str(2_000 + n))),
                                            share=220,
                                        )
                                    }
                                }
                            },
                        }
                    ],
                }
                for profile in range(200)
            ]
        ),
        "unknown plugins": lambda: _profile(
            plugins={"filter": {"enabled": fill(lambda number: {"name": f"p{number}"})}}
        ),
        "one plugin many times": lambda: _profile(
            plugins={"score": {"enabled": fill(lambda _: {"name": "NodeAffinity", "weight": 1})}}
        ),
        "plugins disabled": lambda: _profile(
            plugins={"multiPoint": {"disabled": fill(lambda number: {"name": f"p{number}"})}}
        ),
        "arguments of unknown plugins": lambda: _profile(
            pluginConfig=fill(lambda number: {"name": f"p{number}", "args": {"a": number}})
        ),
        "arguments of one plugin many times": lambda: _profile(
            pluginConfig=fill(lambda _: {"name": "InterPodAffinity", "args": {}})
        ),
        "arguments with unknown fields": lambda: _arguments(
            "InterPodAffinity", **fill_map(lambda number: (f"f{number}", number))
        ),
        "unknown fields": lambda: _configuration(**fill_map(lambda number: (f"f{number}", number))),
        "extenders": lambda: _configuration(extenders=fill(_extender)),
        "extenders that bind": lambda: _configuration(
            extenders=fill(lambda number: _extender(number, bindVerb="bind"))
        ),
        "managed resources": lambda: _configuration(
            extenders=[
                _extender(
                    0,
                    managedResources=fill(
                        lambda n: {"name": f"example.com/r{n}", "ignoredByScheduler": True}
                    ),
                    ignorable=True,
                )
            ]
        ),
        "managed resources of many extenders": lambda: _configuration(
            extenders=fill(
                lambda n: _extender(n, managedResources=[{"name": "example.com/r"}], ignorable=True)
            )
        ),
        "numbers in added affinity": lambda: _require(
            *fill(lambda number: term(expression(RANK, "Gt", str(2_000 + number))))
        ),
        "values in added affinity": lambda: _require(
            term(expression("kubernetes.io/hostname", "NotIn", *fill(lambda n: f"none-{n}")))
        ),
        "keys in added affinity": lambda: _require(
            *fill(lambda number: term(expression(f"k{number}", "DoesNotExist", *())))
        ),
        "one term of many expressions": lambda: _require(
            term(*fill(lambda number: expression(f"k{number}", "NotIn", "v")))
        ),
        "preferences in added affinity": lambda: _affinity(
            preferredDuringSchedulingIgnoredDuringExecution=fill(
                lambda number: {
                    "weight": 1,
                    "preference": term(expression(RANK, "Gt", str(number % 900))),
                }
            )
        ),
        "default constraints": lambda: _arguments(
            "PodTopologySpread",
            defaultingType="List",
            defaultConstraints=fill(
                lambda number: {
                    "maxSkew": 1,
                    "topologyKey": f"k{number}",
                    "whenUnsatisfiable": "ScheduleAnyway",
                }
            ),
        ),
        "default constraints of one key": lambda: _arguments(
            "PodTopologySpread",
            defaultingType="List",
            defaultConstraints=fill(
                lambda _: {
                    "maxSkew": 1,
                    "topologyKey": "topology.kubernetes.io/zone",
                    "whenUnsatisfiable": "ScheduleAnyway",
                }
            ),
        ),
        "ignored resources": lambda: _arguments(
            "NodeResourcesFit", ignoredResources=fill(lambda number: f"example.com/r{number}")
        ),
        "ignored groups": lambda: _arguments(
            "NodeResourcesFit", ignoredResourceGroups=fill(lambda number: f"g{number}.example.com")
        ),
        "scored resources": lambda: _score_by(*fill(_resource)),
        "scored resources of one name": lambda: _score_by(
            *fill(lambda _: {"name": "cpu", "weight": 1})
        ),
        "balanced resources": lambda: _arguments(
            "NodeResourcesBalancedAllocation", resources=fill(_resource)
        ),
        "a shape of many points": lambda: _score_by(
            {"name": "cpu", "weight": 1},
            kind="RequestedToCapacityRatio",
            requestedToCapacityRatio={"shape": fill(lambda number: _point(number, 0.001))},
        ),
        "a shape of volumes": lambda: _arguments(
            "VolumeBinding", shape=fill(lambda number: _point(number, 0.001))
        ),
        "a scored name of a mebibyte": lambda: _score_by(
            {"name": f"example.com/{'r' * (1 << 20)}", "weight": 1}
        ),
        "a scheduler's name of a mebibyte": lambda: _configuration(
            profiles=[{"schedulerName": "s" * (1 << 20)}]
        ),
        "predicates of a Policy": lambda: _policy(
            predicates=fill(lambda number: {"name": f"p{number}"})
        ),
        "labels of a Policy": lambda: _policy(
            predicates=[
                {
                    "name": "CheckLabels",
                    "argument": {
                        "labelsPresence": {
                            "labels": fill(lambda number: f"k{number}"),
                            "presence": False,
                        }
                    },
                }
            ]
        ),
        "label preferences of a Policy": lambda: _policy(
            priorities=fill(
                lambda number: {
                    "name": f"p{number}",
                    "weight": 1,
                    "argument": {"labelPreference": {"label": f"k{number}", "presence": True}},
                }
            )
        ),
        "antiaffinity of a Policy": lambda: _policy(
            priorities=fill(
                lambda number: {
                    "name": f"p{number}",
                    "weight": 1,
                    "argument": {"serviceAntiAffinity": {"label": f"k{number}"}},
                }
            )
        ),
        "extenders of a Policy": lambda: _policy(extenders=fill(_extender)),
    }
)
