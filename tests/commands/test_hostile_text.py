"""What others wrote is shown and never obeyed, whichever command prints it.

Texts with control characters stand wherever an input has room for one. Each command has to print
what it prints for the same input with the visible form in their place, so nothing can be coloured,
hidden, overwritten or forged.
"""

import io
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.addons.extenders.extender_servers import answering, serving_in_thread
from support.commands.command_line import Done, node, pod, podium
from support.commands.hostile_text import (
    FORGED,
    HOSTILE,
    WORST,
    case,
    configuration,
    write_cluster,
    write_json,
)

from podium.golang.json_values import DecodedValue
from podium.golang.quoting import escape_unprintable
from podium.golang.yaml_reader import read_yaml

Arguments = list[str]
Run = Callable[[Arguments], Done]
_SGR = re.compile(r"\x1b\[[0-9;]*m")
_EXTENDER = "http://127.0.0.1:1/e"


def file_name(text: str) -> str:
    return text.replace("/", "%")


def simulate(text: str) -> Arguments:
    return ["simulate", "-f", write_cluster(text), "--all"]


def simulate_wide(text: str) -> Arguments:
    return ["simulate", "-f", write_cluster(text), "-o", "wide", "--timeline"]


def capacity(text: str) -> Arguments:
    return ["capacity", "-f", write_cluster(text)]


def what_if(text: str) -> Arguments:
    return ["what-if", "-f", write_cluster(text), "--fail", f"n-{text}", "--each-node", "--all"]


def compare(text: str) -> Arguments:
    conditions = [f"--fail-if=placed{sign}0" for sign in ("<", ">=")]
    return ["compare", "-f", write_cluster(text), "--config=default", "--seeds=2", *conditions]


def compare_with_nothing(text: str) -> Arguments:
    return ["compare", "-f", write_cluster("x"), "--config", "default", f"--fail-if={text} > 0"]


def what_if_about_nothing(text: str) -> Arguments:
    return ["what-if", "-f", write_cluster("x"), "--scale", f"deploy/{text}=3"]


def explain(text: str) -> Arguments:
    return ["explain", f"default/t-{text}", "-f", write_cluster(text)]


def explain_placed(text: str) -> Arguments:
    return ["explain", f"s-{text}/p-{text}", "-f", write_cluster(text), "-o", "wide"]


def explain_node(text: str) -> Arguments:
    return ["explain", f"default/q-{text}", "-f", write_cluster(text), "--node", f"n-{text}"]


def explain_nobody(text: str) -> Arguments:
    return ["explain", f"nobody-{text}", "-f", write_cluster(text)]


def why(text: str) -> Arguments:
    return ["why", f"default/t-{text}", "-f", write_cluster(text), "-o", "wide", "--top", "20"]


def story(text: str) -> Arguments:
    return ["story", f"default/q-{text}", "-f", write_cluster(text)]


def story_of_a_gated_pod(text: str) -> Arguments:
    return ["story", f"default/g-{text}", "-f", write_cluster(text), "-o", "wide"]


def refused_inputs(text: str) -> Arguments:
    unknown = pod("a", tolerations=[{"key": "k", "operator": text}]) | {f"field-{text}": 1}
    tainted = node("b") | {"spec": {"taints": [{"key": "k", "effect": text}]}}
    strange = {"apiVersion": text, "kind": f"Pod{text}", "metadata": {"name": "x"}}
    return ["simulate", "-f", write_cluster(text, unknown, tainted, strange)]


def one_refused_input(text: str) -> Arguments:
    spec = {"containers": [], "restartPolicy": 3, f"field-{text}": 1}
    raw = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": text}, "spec": spec}
    return ["simulate", "-f", write_json(Path("pod.json"), raw)]


def warned_inputs(text: str) -> Arguments:
    unknown = pod("a") | {f"field-{text}": 1}
    return ["simulate", "-f", write_cluster(text, unknown), "--validation", "warn"]


def missing_file(text: str) -> Arguments:
    return ["simulate", "-f", file_name(f"{text}.yaml")]


def broken_file(text: str) -> Arguments:
    name = file_name(f"b-{text}.yaml")
    Path(name).write_text(f"a: [{json.dumps(text)}\nb: }}")
    return ["simulate", "-f", name]


def usage_error(text: str) -> Arguments:
    return ["simulate", "--seed", text, "-f", "x"]


def config_check(text: str) -> Arguments:
    name = file_name(f"c-{text}.yaml")
    profile = {
        "schedulerName": text,
        "plugins": {"filter": {"enabled": [{"name": text}]}},
        "pluginConfig": [{"name": text, "args": {text: text}}],
    }
    return ["config", "check", write_json(Path(name), configuration(profile, **{text: text}))]


def config_check_good(text: str) -> Arguments:
    name = file_name(f"c-{text}.yaml")
    return ["config", "check", write_json(Path(name), configuration({"schedulerName": text}))]


def config_points(text: str) -> Arguments:
    return ["config", "points", write_json(Path("c"), configuration({"schedulerName": text}))]


def config_diff(text: str) -> Arguments:
    raw = configuration({"schedulerName": text}, clientConnection={"kubeconfig": text})
    return ["config", "show", "--diff", write_json(Path("c"), raw)]


def refused_configuration(text: str) -> Arguments:
    raw = configuration({"schedulerName": text, "percentageOfNodesToScore": 500})
    return [
        "simulate",
        "-f",
        write_cluster("x"),
        "--config",
        write_json(Path(file_name(f"c-{text}")), raw),
    ]


def parity(text: str) -> Arguments:
    name = file_name(f"family-{text}.jsonl")
    return ["parity", write_json(Path(name), case(text))]


def no_case(text: str) -> Arguments:
    return ["parity", write_json(Path("cases.jsonl"), {"name": "x", "steps": text, text: text})]


def bench_list_of_nothing(text: str) -> Arguments:
    return ["bench", "--workload", text]


def plugin_error(text: str) -> Arguments:
    Path("rule.py").write_text(f"raise ValueError({text!r})")
    return ["simulate", "-f", write_cluster("x"), "--plugin", "rule.py"]


def crashing_plugin(text: str) -> Arguments:
    Path("rule.py").write_text(
        "from podium.scheduler.framework.points import PreFilterPlugin\n"
        "class Rule(PreFilterPlugin):\n"
        '    name = "Rule"\n'
        "    def pre_filter(self, cycle):\n"
        f"        raise ValueError({text!r})\n"
    )
    return ["simulate", "-f", write_cluster("x"), "--plugin", "rule.py"]


def run_flag(text: str) -> Arguments:
    return ["run", f"--{text}=1"]


def run_argument(text: str) -> Arguments:
    return ["run", f"--v={text}"]


def nodes_template(text: str) -> Arguments:
    raw = {"apiVersion": text, "kind": text, "metadata": {"name": text}}
    return ["nodes", "--template", write_json(Path(file_name(f"n-{text}")), raw)]


def up_controller(text: str) -> Arguments:
    raw = {"apiVersion": text, "kind": text, "metadata": {"name": text}}
    return ["up", "--template", write_json(Path(file_name(f"n-{text}")), raw), "--port", "0"]


COMMANDS: list[Callable[[str], Arguments]] = [
    simulate, simulate_wide, explain, explain_placed, explain_node, explain_nobody, why, story,
    story_of_a_gated_pod, refused_inputs, one_refused_input, warned_inputs, missing_file,
    broken_file, usage_error, config_check, config_check_good, config_points, config_diff,
    refused_configuration, parity, no_case, bench_list_of_nothing, plugin_error, crashing_plugin,
    run_flag, run_argument, nodes_template, up_controller, capacity, what_if,
    what_if_about_nothing, compare, compare_with_nothing,
]  # fmt: skip
QUOTING = {
    parity,
    refused_inputs,
    one_refused_input,
    warned_inputs,
    config_check,
    config_diff,
    run_argument,
    no_case,
    broken_file,
    bench_list_of_nothing,
    why,
    capacity,
}
"""They quote parts of what they print, where a backslash of the visible form is doubled."""


def combine(texts: dict[str, str], commands: Sequence[Callable[..., Arguments]]) -> list[object]:
    """Every text in every command; each command is quick with two of the texts at least: the first,
    which has all control characters, and one of the others in turn."""
    return [
        pytest.param(
            text,
            command,
            id=f"{name}-{command.__name__}",
            marks=[pytest.mark.slow] if row and (row + column) % (len(texts) - 1) else [],
        )
        for row, (name, text) in enumerate(texts.items())
        for column, command in enumerate(commands)
    ]


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_modules: None) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def in_own_modules(arguments: Arguments) -> Done:
        for name in [name for name in sys.modules if name.startswith("podium_user_")]:
            del sys.modules[name]
        return podium(capsys, *arguments)

    return in_own_modules


def assert_printable(text: str) -> None:
    assert [line for line in text.split("\n") if not line.isprintable()] == []


@pytest.mark.parametrize(("text", "command"), combine(WORST, COMMANDS))
def test_a_hostile_text_is_printed_as_its_visible_form(
    command: Callable[[str], Arguments], text: str, run: Run
) -> None:
    done = run(command(text))
    assert_printable(done.out)
    assert_printable(done.err)
    visible = run(command(escape_unprintable(text)))
    assert done.code == visible.code
    if command in QUOTING:
        assert len(done.out.split("\n")) == len(visible.out.split("\n"))
        assert len(done.err.split("\n")) == len(visible.err.split("\n"))
    else:
        assert done == visible


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_is_obeyed(text: str, run: Run) -> None:
    done = run(simulate(text))
    assert_printable(done.out)
    assert done == run(simulate(escape_unprintable(text)))


@pytest.mark.parametrize("command", [simulate, explain, story, config_check, parity])
@pytest.mark.parametrize("text", WORST.values(), ids=WORST)
def test_on_a_terminal_the_only_sequences_are_our_colours(
    command: Callable[[str], Arguments], text: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = run(command(text)).out
    visible = run(command(escape_unprintable(text))).out
    assert _SGR.search(coloured) or "/" in text  # no pod with a slash in its name can be named
    assert_printable(_SGR.sub("", coloured))
    if command not in QUOTING:
        assert coloured == visible


@pytest.mark.parametrize("text", WORST.values(), ids=WORST)
def test_a_forced_terminal_reads_file_names_as_text(
    text: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words beside a spinner and a bar, too, are neither markup nor sequences."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    Path(file_name(f"family-{text}.jsonl")).write_text("")
    done = run(["parity", file_name(f"family-{text}.jsonl")])
    own = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", done.err)
    assert done.code == 0
    assert_printable(own)


DOCUMENTS: list[Callable[[str], Arguments]] = [simulate, explain, story]


@pytest.mark.parametrize("command", DOCUMENTS)
@pytest.mark.parametrize("text", [text for text in WORST.values() if "/" not in text])
def test_documents_mean_the_same_and_have_no_controls(
    command: Callable[[str], Arguments], text: str, run: Run
) -> None:
    in_json = run([*command(text), "-o", "json"]).out
    in_yaml = run([*command(text), "-o", "yaml"]).out
    assert_printable(in_json)
    assert_printable(in_yaml)
    document = json.loads(in_json)
    assert text in json.dumps(document, ensure_ascii=False) or json.dumps(text)[1:-1] in in_json
    [(_, same)] = read_yaml(in_yaml, "output", depth=100, alias_nodes=10)
    assert same == document


@pytest.mark.parametrize("text", WORST.values(), ids=WORST)
def test_a_configuration_is_shown_as_yaml_that_loads_again(text: str, run: Run) -> None:
    file = write_json(Path("c"), configuration({"schedulerName": text}))
    shown = run(["config", "show", file])
    assert_printable(shown.out)
    document: DecodedValue
    [(_, document)] = read_yaml(shown.out, "output", depth=100, alias_nodes=10)
    assert document["profiles"][0]["schedulerName"] == text


@pytest.mark.parametrize("text", WORST.values(), ids=WORST)
def test_decided_cases_mean_the_same_and_have_no_controls(
    text: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = io.BytesIO(json.dumps(case(text)).encode())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=lines))
    decided = run(["decide"]).out
    assert_printable(decided)
    assert json.loads(decided)["objects"] == case(text)["objects"]


@pytest.mark.parametrize("text", WORST.values(), ids=WORST)
def test_answers_of_extenders_are_text(text: str, run: Run) -> None:
    refusal = json.dumps({"Error": text, "FailedNodes": {"a": text}}).encode()
    visible = json.dumps({"Error": escape_unprintable(text)}).encode()
    outputs = []
    for body in (refusal, visible):
        with serving_in_thread(answering(body)) as server:
            extenders = [{"urlPrefix": server.url, "filterVerb": "f", "nodeCacheCapable": True}]
            config = write_json(Path("c"), configuration({}, extenders=extenders))
            objects = [node("a"), pod("p")]
            cluster = {"apiVersion": "v1", "kind": "List", "items": objects}
            file = write_json(Path("i.json"), cluster)
            done = run(["explain", "p", "-f", file, "--config", config])
            outputs.append((done.out + done.err).replace(server.url, _EXTENDER))
    assert_printable(outputs[0])
    assert escape_unprintable(text) in outputs[0]
    assert len(outputs[0].split("\n")) == len(outputs[1].split("\n"))


@pytest.mark.parametrize("text", WORST.values(), ids=WORST)
def test_answers_of_servers_are_text(text: str, run: Run) -> None:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403}
    body = json.dumps({**status, "reason": "Forbidden", "message": text}).encode()
    with serving_in_thread(answering(body, "403 Forbidden")) as server:
        raw = {
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": server.url}}],
            "contexts": [{"name": "c", "context": {"cluster": "c"}}],
        }
        done = run(["nodes", "--kubeconfig", write_json(Path("k"), raw)])
    assert done.code == 2
    assert_printable(done.err)
    assert done.err.count("\n") == 1
    assert escape_unprintable(text) in done.err


def test_a_name_cannot_forge_a_line(run: Run) -> None:
    done = run(simulate(FORGED))
    assert "p-x\\npodium: all pods fit" in done.out
    assert not any(line.startswith("podium: all") for line in done.out.split("\n"))


def test_a_file_name_that_is_no_utf_8_is_shown_by_its_bytes(run: Run) -> None:
    done = run(["simulate", "-f", "caf\udce9.yaml"])
    assert done.err == "podium: caf\\xe9.yaml: cannot be read: no such file or directory\n"
