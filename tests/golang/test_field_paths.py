"""Field paths look as users write them."""

import pytest

from podium.golang.mistakes import ROOT, Path, join, render


def path_of(*steps: object) -> Path:
    path = ROOT
    for step in steps:
        path = (path, step)
    return path


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ((), ""),
        (("metadata", "name"), "metadata.name"),
        (("spec", "containers", 0, "image"), "spec.containers[0].image"),
        (("metadata", "labels", "example.com/team"), 'metadata.labels["example.com/team"]'),
        (("requests", "hugepages-2Mi"), "requests.hugepages-2Mi"),
        ((3, "kind"), "[3].kind"),
        (("a", ""), 'a[""]'),
    ],
)
def test_a_path_is_rendered_with_dots_and_brackets(steps: tuple[object, ...], text: str) -> None:
    assert render(path_of(*steps)) == text


@pytest.mark.parametrize(
    ("path", "below", "text"),
    [
        ("", "", ""),
        ("items[1]", "", "items[1]"),
        ("", "spec", "spec"),
        ("items[1]", "spec", "items[1].spec"),
        ("items[1]", "[2]", "items[1][2]"),
    ],
)
def test_rendered_paths_join(path: str, below: str, text: str) -> None:
    assert join(path, below) == text
