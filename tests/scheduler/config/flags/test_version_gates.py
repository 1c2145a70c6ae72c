"""Feature gates and emulated versions from flags."""

import pytest

from podium.kubernetes.releases.feature_gates import (
    FeatureGateError,
    FeatureGates,
    FeatureStage,
)
from podium.kubernetes.releases.release import Version, release
from podium.scheduler.config.flags.options import options_of
from podium.scheduler.config.flags.parser import parse_flags
from podium.scheduler.config.flags.version_gates import SettledGates, alpha_warning, settled_gates


def settled(*arguments: str) -> SettledGates:
    return settled_gates(options_of(parse_flags(arguments)).versions, release())


def refusal(*arguments: str) -> str:
    with pytest.raises(FeatureGateError) as caught:
        settled(*arguments)
    return str(caught.value)


def test_without_flags_the_defaults_count() -> None:
    assert settled() == SettledGates(FeatureGates())


def test_gates_may_come_in_several_flags_and_with_a_component() -> None:
    several = settled("--feature-gates=GenericWorkload=true", "--feature-gates=GangScheduling=1")
    one = settled("--feature-gates=kube:GenericWorkload=true,kube:GangScheduling=T")
    assert several == one
    assert several.alpha == ("GangScheduling", "GenericWorkload")
    assert alpha_warning(several.alpha).endswith("features=[GangScheduling GenericWorkload]")


def test_a_group_is_named_with_its_gates() -> None:
    assert "AllAlpha" in settled("--feature-gates=AllAlpha=true").alpha
    assert settled("--feature-gates=AllAlpha=false").alpha == ()


@pytest.mark.parametrize(
    ("gates", "text"),
    [
        ("Foo=true", "unrecognized feature gate: Foo"),
        ("GangScheduling", "missing bool value for GangScheduling"),
        (
            "GangScheduling=maybe",
            "invalid value of GangScheduling=maybe, err: strconv.ParseBool: parsing "
            '"maybe": invalid syntax',
        ),
        (
            "InOrderInformers=false,DynamicResourceAllocation=false",
            "[cannot set feature gate InOrderInformers to false, feature is locked to true, "
            "cannot set feature gate DynamicResourceAllocation to false, "
            "feature is locked to true]",
        ),
        (
            "GangScheduling=true",
            "GangScheduling is enabled, but depends on features that are disabled: "
            "[GenericWorkload]",
        ),
        ("foo:GangScheduling=true", "component not registered: foo"),
        (
            "GenericWorkload=true,kube:GangScheduling=true",
            "set kube feature gates with default empty prefix or kube: prefix consistently, "
            "do not mix use",
        ),
    ],
)
def test_wrong_gates_are_refused(gates: str, text: str) -> None:
    assert refusal(f"--feature-gates={gates}") == text


def test_gates_that_need_not_be_set_any_more_are_noted() -> None:
    found = settled("--feature-gates=InOrderInformers=true,AllowDNSOnlyNodeCSR=true")
    assert [(gate, value) for _, gate, value in found.notes] == [
        ("InOrderInformers", True),
        ("AllowDNSOnlyNodeCSR", True),
    ]
    assert [text.split()[2] for text, _, _ in found.notes] == ["GA", "deprecated"]


@pytest.mark.parametrize("form", ["1.35", "kube=1.35", "v1.35.0", "kube = 1.35"])
def test_an_emulated_version_brings_its_own_defaults(form: str) -> None:
    found = settled("--emulated-version", form)
    assert found.gates.emulated == Version(1, 35)
    assert not found.gates["NodeDeclaredFeatures"]
    assert found.problems == ()


def test_a_gate_cannot_be_set_before_its_release() -> None:
    assert refusal("--emulated-version=1.34", "--feature-gates=GangScheduling=true") == (
        "cannot set feature gate GangScheduling to true, feature is PreAlpha at emulated version "
        "1.34, min compatibility version 1.33"
    )


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        (
            ["--emulated-version=1.20"],
            (
                "emulation version 1.20 is not between [1.33, 1.36.0]",
                "minCompatibilityVersion version 1.33 is not between [1.33, 1.20]",
            ),
        ),
        (
            ["--emulated-version=1.37"],
            ("emulation version 1.37 is not between [1.33, 1.36.0]",),
        ),
        (
            ["--min-compatibility-version=1.32"],
            ("minCompatibilityVersion version 1.32 is not between [1.33, 1.36]",),
        ),
        (
            ["--min-compatibility-version=1.36", "--emulated-version=1.35"],
            ("minCompatibilityVersion version 1.36 is not between [1.33, 1.35]",),
        ),
        (["--min-compatibility-version=1.33"], ()),
    ],
)
def test_a_version_out_of_range_is_told_later(
    arguments: list[str], problems: tuple[str, ...]
) -> None:
    assert settled(*arguments).problems == problems


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("abc", 'could not parse "abc" as version'),
        ("1.35.1", "patch version not allowed, got: kube=1.35.1"),
        ("1.35,kube=1.34", "duplicate version flag, kube=1.35 and kube=1.34"),
        ("foo=1.35", "component not registered: foo"),
    ],
)
def test_what_is_no_version_is_refused_at_once(version: str, text: str) -> None:
    assert refusal(f"--emulated-version={version}") == text
    assert refusal(f"--min-compatibility-version={version}") == text


@pytest.mark.parametrize("minor", [33, 34, 35, 36])
def test_the_defaults_of_every_release_go_together(minor: int) -> None:
    gates = FeatureGates(emulated=Version(1, minor))
    assert sum(gates.values()) > 50
    for name, gate in gates.known.items():
        assert gates[name] == gate.default
        assert not gate.locked or gate.stage in (
            FeatureStage.GA,
            FeatureStage.DEPRECATED,
            FeatureStage.BETA,
        )


def test_a_gate_has_a_stage_in_each_release() -> None:
    emulating = [FeatureGates(emulated=Version(1, minor)) for minor in (34, 35, 36)]
    stages = [gates.known["NodeDeclaredFeatures"].stage for gates in emulating]
    assert stages == [FeatureStage.PRE_ALPHA, FeatureStage.ALPHA, FeatureStage.BETA]
    assert FeatureGates().known["InOrderInformers"].locked


def test_a_deprecated_gate_may_be_locked_off() -> None:
    for gate in ("GitRepoVolumeDriver", "SeparateCacheWatchRPC"):
        assert not FeatureGates()[gate]
        assert refusal(f"--feature-gates={gate}=true") == (
            f"cannot set feature gate {gate} to true, feature is locked to false"
        )
