"""`podium run`: what is printed where, and how it ends."""

import json
import os
import socket
from pathlib import Path

import pytest
from support.commands.scheduler_process import FILE, Scheduler

WRITE = ("--write-config-to", "OUT", "--secure-port=0")
QUIET = (*WRITE, "--kubeconfig", "KUBECONFIG")
POLICY = {"apiVersion": "v1", "kind": "Policy", "predicates": [], "priorities": []}


@pytest.fixture
def scheduler(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Scheduler:
    return Scheduler(tmp_path, capsys, monkeypatch)


def failed(text: str) -> list[str]:
    return [f'"command failed" err="{text}"']


def test_a_command_line_that_is_not_understood_gets_usage_and_an_error(
    scheduler: Scheduler,
) -> None:
    ended = scheduler.run("--nope", "--help")
    assert (ended.code, ended.out) == (1, "")
    assert ended.bare[0] == "Usage:"
    assert ended.bare[-1] == "Error: unknown flag: --nope"


@pytest.mark.parametrize("arguments", [["-h"], ["--help"], ["extra", "--help", "--v=3"]])
def test_help_goes_to_standard_output(scheduler: Scheduler, arguments: list[str]) -> None:
    ended = scheduler.run(*arguments)
    assert (ended.code, ended.err) == (0, "")
    assert "Leader election flags:" in ended.out


def test_help_is_not_given_if_it_is_taken_back(scheduler: Scheduler) -> None:
    assert scheduler.run("--help=false", "extra").code == 1


def test_there_are_no_positional_arguments(scheduler: Scheduler) -> None:
    ended = scheduler.run(*QUIET, "extra", "")
    assert ended.code == 1
    assert ended.err == ('Error: "kube-scheduler" does not take any arguments, got ["extra" ""]\n')
    assert scheduler.run(*QUIET, "").code == 0


def test_the_version_is_that_of_the_release_it_decides_like(scheduler: Scheduler) -> None:
    assert scheduler.run("--version").out == "Kubernetes v1.36.4\n"
    raw = scheduler.run("--version=raw").out
    assert raw.startswith('version.Info{Major:"1", Minor:"36", ')
    assert 'GitVersion:"v1.36.4"' in raw
    assert scheduler.run("--version=v1.36.4-mine", *QUIET).code == 0


def test_gates_are_looked_at_before_the_version(scheduler: Scheduler) -> None:
    ended = scheduler.run("--version", "--feature-gates=Nope=true")
    assert (ended.code, ended.out) == (1, "")
    assert ended.lines("E") == failed("unrecognized feature gate: Nope")


def test_what_the_log_cannot_do_is_told_bare(scheduler: Scheduler) -> None:
    ended = scheduler.run(*QUIET, "--logging-format=xml", "--log-flush-frequency=0s")
    assert ended.code == 1
    assert ended.err == (
        '[flushFrequency: Invalid value: "0s": Must be greater than zero, '
        'format: Invalid value: "xml": Unsupported log format]\n'
    )


def test_times_of_an_election_are_looked_at_when_it_would_begin(scheduler: Scheduler) -> None:
    flags = ("--secure-port=0", "--kubeconfig=KUBECONFIG", "--leader-elect-renew-deadline=2s")
    problem = (
        "couldn't create leader elector: renewDeadline must be greater than "
        "retryPeriod*JitterFactor"
    )
    assert scheduler.run(*flags).lines("E") == failed(problem)
    assert scheduler.run(*flags, "--write-config-to=OUT").code == 0


def test_a_plugin_that_cannot_be_loaded_is_told_before_anything_starts(
    scheduler: Scheduler,
) -> None:
    ended = scheduler.run(*QUIET, "--plugin", "nowhere.py")
    assert ended.code == 1
    (told,) = ended.lines("E")
    assert "nowhere.py" in told


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["--secure-port=70000", "--config=missing", "--kubeconfig=missing"],
            "--secure-port 70000 must be between 1 and 65535, inclusive. "
            "It cannot be turned off with 0",
        ),
        (["--config=missing", *WRITE], "open missing: no such file or directory"),
        (["--config=.", *WRITE], "read .: is a directory"),
        (
            ["--config=BROKEN", *WRITE],
            "parallelism: Invalid value: 0: should be an integer value greater than zero",
        ),
        (["--config=UNBUILT", *WRITE], "stat missing: no such file or directory"),
        (["--kubeconfig=missing", "--kube-api-burst=0"], "stat missing: no such file or directory"),
        (
            [*QUIET, "--kube-api-burst=0", "--leader-elect-resource-lock=foo"],
            "burst is required to be greater than 0 when RateLimiter is not set and QPS is set to "
            "greater than 0",
        ),
        (
            [*QUIET, "--leader-elect-resource-lock=foo", "--policy-config-file=missing"],
            "couldn't create resource lock: Invalid lock-type foo",
        ),
        ([*QUIET, "--policy-config-file=missing"], "missing policy config file missing"),
        (
            ["--write-config-to=no/OUT", "--secure-port=0", "--kubeconfig=KUBECONFIG"],
            "open no/OUT: no such file or directory",
        ),
        ([*QUIET, "--kube-api-qps=inf"], "json: unsupported value: +Inf"),
        (["--config=a\0b", *WRITE], "open a\\x00b: invalid argument"),
    ],
)
def test_the_first_thing_that_fails_is_told(
    scheduler: Scheduler, arguments: list[str], problem: str
) -> None:
    scheduler.write("BROKEN", f"{FILE}parallelism: 0\n")
    unbuilt = "profiles:\n- plugins: {filter: {enabled: [{name: Nope}]}}\n"
    scheduler.write("UNBUILT", FILE.replace("KUBECONFIG", "missing") + unbuilt)
    ended = scheduler.run(*arguments)
    assert ended.code == 1
    assert ended.lines("E") == failed(problem)


def test_a_port_must_be_free(scheduler: Scheduler) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        flags = ("--bind-address=127.0.0.1", f"--secure-port={port}", "--kubeconfig=KUBECONFIG")
        taken = scheduler.run(*flags, "--write-config-to=OUT")
    where = f"127.0.0.1:{port}"
    assert taken.lines("E") == failed(
        f"failed to create listener: failed to listen on {where}: listen tcp {where}: "
        "bind: address already in use"
    )
    free = scheduler.run(*flags, "--write-config-to=OUT", "--permit-port-sharing")
    assert free.code == 0
    assert len(free.lines("W")) == 3


def test_the_effective_configuration_loads_to_itself(scheduler: Scheduler) -> None:
    first = scheduler.run(*QUIET, "--leader-elect=false", "--kube-api-qps=0.1")
    assert first.written is not None
    assert "qps: 0.1\n" in first.written
    assert first.lines("I") == ['"Wrote configuration" file="OUT"']
    scheduler.write("AGAIN", first.written)
    assert scheduler.run(*WRITE, "--config=AGAIN").written == first.written


def test_a_byte_that_is_no_text_is_written_as_a_replacement(scheduler: Scheduler) -> None:
    ended = scheduler.run(*QUIET, "--leader-elect-resource-name=a\udcff", "-v=2")
    assert ended.code == 0
    assert ended.effective["leaderElection"]["resourceName"] == "a\ufffd"


def test_a_policy_is_written_in_the_last_format_that_had_it(scheduler: Scheduler) -> None:
    scheduler.write("POLICY", json.dumps(POLICY))
    ended = scheduler.run(*QUIET, "--policy-config-file=POLICY")
    assert ended.code == 0
    assert ended.effective["apiVersion"] == "kubescheduler.config.k8s.io/v1beta1"
    assert ended.lines("W") == [
        "Flag --policy-config-file has been deprecated, kube-scheduler had it until 1.22; use "
        "--config with a profile; podium config convert writes one"
    ]


def test_flags_without_effect_are_information_and_no_warning(scheduler: Scheduler) -> None:
    ended = scheduler.run(*QUIET, "--vmodule=a=1", "--feature-gates=InOrderInformers=true")
    assert ended.lines("W") == []
    assert ended.lines("I") == [
        "--vmodule has no effect in Podium: there are no Go source files to choose from",
        '"Warning: setting GA feature gate. It will be removed in a future release." '
        'featureGate="InOrderInformers" value=true',
        '"Wrote configuration" file="OUT"',
    ]


# the log


def test_a_log_line_has_klogs_header(scheduler: Scheduler) -> None:
    header, _, text = scheduler.run(*QUIET).err.partition("] ")
    date, _, process, place = header.split()
    assert date[0] == "I"
    assert len(date) == 5
    assert process == str(os.getpid())
    assert place.startswith("startup.py:")
    assert text == '"Wrote configuration" file="OUT"\n'


def test_verbosity_brings_flags_plugins_and_the_configuration(scheduler: Scheduler) -> None:
    one = scheduler.run(*QUIET, "-v=1").lines("I")
    assert 'FLAG: --leader-elect="true"' in one
    assert 'FLAG: --requestheader-group-headers="[x-remote-group]"' in one
    assert 'FLAG: --kubeconfig="KUBECONFIG"' in one
    flags = [line.partition("=")[0] for line in one if line.startswith("FLAG: ")]
    assert flags == sorted(flags)
    two = scheduler.run(*QUIET, "-v=2")
    (config,) = [text for text in two.lines("I") if text.startswith('"Using component config"')]
    lines = config.splitlines()
    assert (lines[0], lines[-1]) == ('"Using component config" config=<', " >")
    assert "\n".join(line.removeprefix("\t") for line in lines[1:-1]) + "\n" == two.written


def test_the_log_may_be_json(scheduler: Scheduler) -> None:
    ended = scheduler.run(*QUIET, "--logging-format=json", "--port=0")
    warning, wrote = map(json.loads, ended.err.splitlines())
    assert wrote["msg"] == "Wrote configuration"
    assert (wrote["v"], wrote["file"]) == (0, "OUT")
    assert warning["msg"].startswith("Flag --port has been deprecated")
    ended = scheduler.run(*WRITE, "--logging-format=json", "--config=missing")
    (error,) = map(json.loads, ended.err.splitlines())
    assert error["msg"] == "command failed"
    assert error["err"] == "open missing: no such file or directory"
    assert "v" not in error


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_streams_of_the_log_may_be_split(scheduler: Scheduler, form: str) -> None:
    split = (f"--logging-format={form}", f"--log-{form}-split-stream")
    ended = scheduler.run(*QUIET, *split, "--feature-gates=LoggingAlphaOptions=true")
    assert ended.code == 0
    assert "Wrote configuration" in ended.out
    assert "Wrote configuration" not in ended.err
    assert ("LoggingAlphaOptions" in ended.err) == (form == "text")
