"""What scripts and notebooks import: a promise from release to release."""

import inspect

import podium.what_if

SURFACE = {
    "AddNodes": ["nodes", "source"],
    "Capacity": ["pods", "nodes"],
    "ClusterModel": ["scenario", "equipped", "gates", "seed"],
    "Comparison": ["metrics", "runs", "pods"],
    "Cordon": ["nodes", "closed"],
    "Drain": ["nodes"],
    "Fail": ["nodes"],
    "FitPending": [],
    "FreeNodes": ["nodes"],
    "InputError": None,
    "LimitSkew": ["resource", "limit", "key"],
    "Optimum": ["measures", "pods", "proven", "checked", "bound_ignores"],
    "Rebalance": ["summary", "moves", "commands"],
    "Remove": ["nodes"],
    "Run": ["pods", "nodes", "summary"],
    "Scale": ["workload", "replicas"],
    "ScenarioAnswer": ["metrics", "workloads", "samples", "pods"],
    "ScenarioModel": ["file", "equipped", "gates", "seed"],
    "SetTaint": ["nodes", "taint", "removed"],
    "ZoneOutage": ["zone"],
    "compare_runs": ["first", "second"],
    "load_cluster": ["paths", "config", "plugins", "feature_gates", "seed", "validation"],
    "load_nodes": ["path"],
    "load_timed_scenario": ["path", "config", "plugins", "seed"],
    "parse_taint": ["text"],
    "read_live_cluster": [
        *("paths", "kubeconfig", "context", "config", "plugins", "feature_gates", "seed"),
    ],
}
METHODS = {
    "capacity": ["of", "until"],
    "compare": ["configs", "seeds", "jobs", "plugins", "typical_pod", "prices"],
    "each_node": ["changes"],
    "each_zone": ["changes"],
    "nodes_to_add": ["wanted", "shapes", "of"],
    "optimum": ["objective", "time_limit_s", "prices"],
    "rebalance": ["goal", "max_moves", "delete_emptydir_data", "time_limit_s"],
    "run": [],
    "what_if": ["changes"],
    "with_config": ["config", "plugins"],
    "with_seed": ["seed"],
    "without_pending": [],
}


def test_what_scripts_import_is_there_and_stays() -> None:
    assert {*podium.what_if.__all__} == {*SURFACE}
    for name, parameters in SURFACE.items():
        if parameters is not None:
            found = inspect.signature(getattr(podium.what_if, name)).parameters
            assert list(found) == parameters, name


def test_what_a_model_can_be_asked_is_there_and_stays() -> None:
    model = podium.what_if.ClusterModel
    methods = {name for name, _ in inspect.getmembers(model, inspect.isfunction) if name[0] != "_"}
    assert methods == {*METHODS}
    for name, parameters in METHODS.items():
        found = inspect.signature(getattr(model, name)).parameters
        assert list(found) == ["self", *parameters]
