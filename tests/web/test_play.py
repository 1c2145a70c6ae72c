"""Play as a newcomer meets it: in a real browser, at a real `podium up`."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from support.e2e.up_process import UpProcess
from support.web.accessibility import accessibility_problems
from support.web.browser import opened
from support.web.page_at_work import PageAtWork

from podium.golang.documents import read_documents
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PODS = "/api/v1/namespaces/default/pods"
TIMES = "\N{MULTIPLICATION SIGN}"
IMAGE = "<img src=x onerror=alert(1)>"


def link_of(played: UpProcess) -> str:
    return played.output.lines[0].rpartition("  ")[2]


@pytest.fixture
def play(browser: "Browser", played: UpProcess) -> "Iterator[Page]":
    with opened(browser, link_of(played) + "#/play") as page:
        page.wait_for_selector("[data-example=small]")
        yield page


def go(page: "Page", address: str, shown: str) -> None:
    page.evaluate("address => { location.hash = address; }", address)
    page.wait_for_selector(shown)


def create(page: "Page", example: str) -> str:
    """Create an example; the name of the last object that was made."""
    page.click("[data-part=create]")
    page.click(f"[data-example={example}]")
    before = page.locator("#seen .play-step").count()
    page.click("#play-create")
    page.wait_for_function(
        "before => document.querySelectorAll('#seen .play-step').length > before", arg=before
    )
    told = page.locator("#seen .play-step").first.inner_text()
    return told.partition(" created")[0].rpartition("/")[2] if " created" in told else told


def decided(page: "Page", pod: str, outcome: str) -> Any:
    found = page.locator(f"#seen [data-outcome={outcome}]", has_text=pod).first
    found.wait_for()
    return found


def test_a_giant_pod_is_listed_as_pending_with_its_reason(play: "Page") -> None:
    pod = create(play, "giant")
    assert pod.startswith("giant-")
    line = decided(play, pod, "pending")
    assert "Insufficient cpu" in line.inner_text()
    line.get_by_role("link", name=f"Why is that so for default/{pod}?").click()
    play.wait_for_selector(f"h1:has-text('default/{pod}')")
    play.wait_for_selector("#proposals li")


def test_a_weight_counts_from_the_next_pod_on_until_it_is_reset(play: "Page") -> None:
    play.click("[data-part=weights]")
    slider = play.locator("#weight-NodeAffinity")
    slider.focus()
    slider.press("End")
    play.wait_for_selector(f"#seen :text('weigh NodeAffinity {TIMES}20')")
    file = play.locator(".play-part .command code").inner_text()
    (written,) = read_documents(file, "file")
    kept = (
        load_configuration(cast("Any", written.value), gates=FeatureGates())
        .profiles[0]
        .plugins.multi_point.enabled
    )
    assert {"NodeAffinity": 20}.items() <= {ref.name: ref.weight for ref in kept}.items()
    play.click("#play-try")
    decided(play, "picky-", "bound").get_by_role("link", name="Why is that").click()
    play.wait_for_selector(f".chip:has-text('NodeAffinity{TIMES}20')")
    difference = "pre:has-text('+profiles[0].plugins.multiPoint.enabled[NodeAffinity].weight: 20')"
    go(play, "#/configuration", difference)
    go(play, "#/play?do=weights", "#play-reset:enabled")
    play.click("#play-reset")
    play.wait_for_selector("#play-reset:disabled")
    assert slider.input_value() == "2"
    go(play, "#/configuration", "p:has-text('this is the default configuration')")


def test_pods_of_a_node_that_is_killed_come_back_elsewhere(play: "Page", played: UpProcess) -> None:
    name = create(play, "deployment")

    def placed(count: int, *without: str) -> Any:
        def holds(pods: list[Any]) -> bool:
            there = [
                p["spec"].get("nodeName") for p in pods if "deletionTimestamp" not in p["metadata"]
            ]
            return len(there) == count and all(there) and not set(there) & {*without}

        return played.until(f"{PODS}?labelSelector=app={name}", holds)

    pods = placed(3)
    node = pods[0]["spec"]["nodeName"]
    lost = pods[0]["metadata"]["name"]
    decided(play, lost, "bound")
    play.click("[data-part=nodes]")
    play.click(f"[data-node={node}] [data-step=kill]")
    play.wait_for_selector(f"[data-node={node}] :text('killed')")
    came = {pod["metadata"]["name"] for pod in placed(3, node)} - {lost}
    for pod in came:
        decided(play, pod, "bound")
    commands = play.locator("#seen .play-step").first.locator("code").all_inner_texts()
    assert [command.split()[2] for command in commands] == ["annotate", "taint"]
    play.click(f"[data-node={node}] [data-step=revive]")
    play.wait_for_selector(f"[data-node={node}] :text('ready')")


def test_a_node_is_drained_and_takes_pods_again(play: "Page", played: UpProcess) -> None:
    pod = create(play, "affinity")  # zone a: node-0
    decided(play, pod, "bound")
    play.click("[data-part=nodes]")
    play.click("[data-node=node-0] [data-step=drain]")
    play.wait_for_selector(f"#seen .play-step:has-text('pod/{pod} evicted')")
    play.wait_for_selector("[data-node=node-0] :text('cordoned')")
    other = create(play, "affinity")
    assert "unschedulable" in decided(play, other, "pending").inner_text()
    play.click("[data-part=nodes]")
    play.click("[data-node=node-0] [data-step=uncordon]")
    decided(play, other, "bound")
    play.click("[data-part=pods]")
    play.click(f"[data-pod='default/{other}'] [data-step=delete]")
    played.until(PODS, lambda pods: other not in [p["metadata"]["name"] for p in pods])
    play.wait_for_selector(f"[data-pod='default/{other}']", state="detached")


def test_the_command_of_a_step_does_the_same_with_kubectl(
    play: "Page", played: UpProcess, tmp_path: Path
) -> None:
    pod = create(play, "tolerates")
    command = play.locator("#seen .play-step").first.locator("code").inner_text()
    assert command.startswith("KUBECONFIG=")
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    other = done.stdout.split()[0].removeprefix("pod/")
    assert done.stdout == f"pod/{other} created\n"
    one, two = (played.ask("GET", f"{PODS}/{name}") for name in (pod, other))
    assert other != pod
    assert one["metadata"]["labels"]["app"] == two["metadata"]["labels"]["app"]
    assert one["spec"]["containers"][0]["resources"] == two["spec"]["containers"][0]["resources"]
    assert one["spec"]["tolerations"] == two["spec"]["tolerations"]
    decided(play, other, "bound")


def test_what_the_server_refuses_is_told_in_its_words_and_stays_text(play: "Page") -> None:
    pod = f"""apiVersion: v1
kind: Pod
metadata: {{name: "{IMAGE}"}}
spec: {{containers: [{{name: main, image: x}}]}}
"""
    for yaml, words in (
        (pod, f'Pod "{IMAGE}" is invalid: metadata.name: Invalid value'),
        (f"a: [{IMAGE}", "YAML: line"),
        (f"apiVersion: v1\nkind: {IMAGE}", "Play creates Pod"),
        ("", "there is no object in it"),
    ):
        play.fill("#play-yaml", yaml)
        play.press("#play-yaml", "Control+Enter")
        play.locator(".play-part [role=alert]", has_text=words).wait_for()
        assert play.locator("img").count() == 0
    play.click("#play-restore")
    assert "generateName: small-" in play.locator("#play-yaml").input_value()


def test_the_address_brings_back_what_was_chosen(browser: "Browser", played: UpProcess) -> None:
    with opened(browser, link_of(played) + "#/play?example=giant") as page:
        page.wait_for_selector("[data-example=giant][aria-pressed=true]")
        page.click("[data-part=nodes]")
        page.fill("#play-search", "node-1")
        page.wait_for_selector("[data-node=node-0]", state="detached")
        assert "do=nodes" in page.url
        assert "q=node-1" in page.url
        page.reload()
        page.wait_for_selector("[data-node=node-1]")
        assert page.locator("[data-node]").count() == 1
        page.fill("#play-search", "nobody")
        page.get_by_text("No name has that in it.").wait_for()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 390)])
def test_everybody_can_play(browser: "Browser", played: UpProcess, scheme: str, width: int) -> None:
    link = link_of(played)
    with opened(browser, link + "#/play", width=width, scheme=scheme) as page:
        page.wait_for_selector("[data-example=small]")
        create(page, "small")
        for part, shown in (
            ("create", "#play-yaml"),
            ("weights", "#weight-NodeAffinity"),
            ("nodes", "[data-node]"),
            ("pods", "[data-pod]"),
        ):
            page.click(f"[data-part={part}]")
            page.wait_for_selector(shown)
            assert accessibility_problems(page) == [], part
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), part
        # A slash is a letter like any other where somebody writes.
        page.click("[data-part=create]")
        page.wait_for_selector("[data-example=small]")
        page.fill("#play-yaml", "")
        page.press("#play-yaml", "/")
        assert page.locator("#play-yaml").input_value() == "/"


def test_pages_that_can_only_be_read_have_no_play(
    browser: "Browser", small_page: PageAtWork, report: Path
) -> None:
    for link in (small_page.link, report.as_uri()):
        with opened(browser, link + "#/play") as page:
            page.wait_for_selector("#cluster-total:has-text('requested')")
            assert page.locator("nav a", has_text="Play").count() == 0
    assert "play/steps" not in report.read_text()
