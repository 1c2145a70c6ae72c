"""The generator of the data files, on a few lines of Go."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

import podium

ROOT = Path(podium.__file__).parents[2]
FILES = sorted((ROOT / "src/podium/kubernetes/releases").glob("v*.json"))
API = "staging/src/k8s.io/api"

FRUIT = """
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "k8s.io/api/core/v1"
)

// Colour is a text.
// +enum
type Colour string

const (
	Red   Colour = "Red"
	Green        = Colour("Green")
)

// Fruit grows.
// +structType=atomic
type Fruit struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// +listType=map
	// +listMapKey=id
	Seeds []Seed `json:"seeds" patchStrategy:"merge" patchMergeKey:"id" protobuf:"bytes,3,rep"`
	// +required
	Colour *Colour `json:"colour,omitempty" protobuf:"bytes,2,opt,name=colour"`
	// +default="sweet"
	Taste v1.Taste `json:"taste,omitempty"`
	hidden string
}

type Seed struct {
	ID string `json:"id"`
}

type Unasked struct {
}
"""
CORE = """
package v1

type Taste string
"""
META = """
package v1

type ObjectMeta struct {
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
}
"""


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Modules of the generator by name."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_is_as_the_generator_writes_it(file: Path, tools: Any) -> None:
    written = file.read_text()
    assert tools("release_data").render(json.loads(written)) == written


def test_types_are_read_with_what_they_need_and_nothing_else(tools: Any, tmp_path: Path) -> None:
    for folder, text in {
        f"{API}/fruit/v1": FRUIT,
        f"{API}/core/v1": CORE,
        "staging/src/k8s.io/apimachinery/pkg/apis/meta/v1": META,
    }.items():
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "types.go").write_text(text)
    found = tools("release_sources.types").read_types(tmp_path, [("fruit", "Fruit")])
    assert {section: sorted(types) for section, types in found.items()} == {
        "core": ["Taste"],
        "fruit": ["Colour", "Fruit", "Seed"],
        "meta": ["ObjectMeta"],
    }
    assert found["fruit"]["Colour"] == {"type": "string", "enum": ["Green", "Red"]}
    assert found["fruit"]["Fruit"]["structType"] == "atomic"
    inline, metadata, seeds, colour, taste = found["fruit"]["Fruit"]["fields"]
    assert inline == {"name": "TypeMeta", "inline": True}
    assert metadata == {"name": "metadata", "number": 1, "type": "ObjectMeta"}
    assert seeds == {
        "name": "seeds",
        "number": 3,
        "type": "[]Seed",
        "omit": "never",
        "required": True,
        "listType": "map",
        "listMapKeys": ["id"],
        "patchStrategy": "merge",
        "patchMergeKey": "id",
    }
    assert colour == {"name": "colour", "number": 2, "type": "*Colour", "required": True}
    assert taste == {"name": "taste", "type": "Taste", "default": "sweet"}


def test_a_type_that_is_not_there_is_an_error(tools: Any, tmp_path: Path) -> None:
    with pytest.raises(tools("release_sources.go_source").SourceError, match="no Go files"):
        tools("release_sources.types").read_types(tmp_path, [("fruit", "Fruit")])


def test_buckets_are_counted_out(tools: Any) -> None:
    text = """
var waits = metrics.NewHistogramVec(
	&metrics.HistogramOpts{
		Subsystem:      Part,
		Name:           "wait_seconds",
		Help:           "Waits, in seconds {all}.",
		Buckets:        metrics.ExponentialBuckets(0.5, 2, 3),
		StabilityLevel: metrics.BETA,
	}, []string{"result"})
"""
    (found,) = tools("release_sources.metrics")._in(text, {"Part": "scheduler"})
    assert found == {
        "name": "scheduler_wait_seconds",
        "type": "histogram",
        "stability": "BETA",
        "labels": ["result"],
        "buckets": [0.5, 1.0, 2.0],
    }
