"""The usage text."""

import re

from podium.kubernetes.releases.release import release
from podium.scheduler.config.flags.definitions import scheduler_flags
from podium.scheduler.config.flags.parser import all_flags, help_text, usage_text


def test_the_help_opens_with_the_line_that_scripts_look_for() -> None:
    first = "The Kubernetes scheduler is a control plane process which assigns"
    assert help_text().splitlines()[0] == first


def test_every_flag_is_in_its_section() -> None:
    text = usage_text()
    titles = re.findall(r"^(\S.*) flags:$", text, re.MULTILINE)
    assert titles == [
        *(section.title.capitalize() for section in scheduler_flags(release())),
        "Legacy",
    ]
    named = re.findall(r"^  (?:-\w,|   ) --(\S+)", text, re.MULTILINE)
    assert sorted(named) == sorted(all_flags(release()))


def test_defaults_are_shown_unless_they_are_empty() -> None:
    lines = {line.split()[0]: line for line in usage_text().splitlines() if "--" in line}
    assert lines["--secure-port"].endswith("(default 10259)")
    assert lines["--leader-elect-resource-lock"].endswith('(default "leases")')
    assert lines["--requestheader-group-headers"].endswith("(default [x-remote-group])")
    assert "default" not in lines["--permit-port-sharing"]
    assert "default" not in lines["--cert-dir"]


def test_gates_are_listed() -> None:
    assert "kube:GangScheduling=true|false (ALPHA - default=false)" in usage_text()
    assert "kube:InOrderInformers=" not in usage_text()


def test_lines_are_wrapped_to_the_width_of_a_screen() -> None:
    assert max(map(len, usage_text(100).splitlines())) <= 100
    assert len(usage_text(100).splitlines()) > len(usage_text(0).splitlines())
