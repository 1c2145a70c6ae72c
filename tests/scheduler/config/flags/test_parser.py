"""Command lines in pflag's forms."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.golang.durations import Duration
from podium.kubernetes.releases.release import release
from podium.scheduler.config.flags.definitions import INSTEAD, LEGACY, by_name, scheduler_flags
from podium.scheduler.config.flags.kinds import CertificatePair, FileVerbosity
from podium.scheduler.config.flags.options import options_of
from podium.scheduler.config.flags.parser import FlagError, all_flags, parse_flags


def value_of(name: str, *arguments: str) -> Any:
    return parse_flags(arguments).values[name]


def refusal(*arguments: str) -> str:
    with pytest.raises(FlagError) as caught:
        parse_flags(arguments)
    return str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [["-v=2"], ["-v2"], ["-v", "2"], ["--v=2"], ["--v", "2"], ["-hv=2"], ["-v=1", "-v=2"]],
)
def test_a_flag_has_many_spellings(arguments: list[str]) -> None:
    assert value_of("v", *arguments) == 2


@pytest.mark.parametrize(
    ("arguments", "elects"),
    [
        ([], True),
        (["--leader-elect"], True),
        (["--leader-elect=false"], False),
        (["--leader_elect=F"], False),
        (["--leader-elect=false", "--leader-elect"], True),
        (["--leader-elect=0", "true"], False),
    ],
)
def test_a_switch_takes_its_value_in_the_same_word_only(arguments: list[str], elects: bool) -> None:
    parsed = parse_flags(arguments)
    assert parsed.values["leader-elect"] is elects


def test_words_that_are_no_flags_stay_in_order() -> None:
    parsed = parse_flags(["a", "--leader-elect", "-", "--", "--v", "-x"])
    assert parsed.positional == ("a", "-", "--v", "-x")
    assert parsed.given == ("leader-elect",)


def test_a_value_may_look_like_a_flag() -> None:
    assert value_of("config", "--config", "--leader-elect") == "--leader-elect"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--nope=1"], "unknown flag: --nope"),
        (["--no_pe"], "unknown flag: --no_pe"),
        (["-x"], "unknown shorthand flag: 'x' in -x"),
        (["-hx"], "unknown shorthand flag: 'x' in -x"),
        (["-é"], "unknown shorthand flag: 'Ã' in -é"),
        (["-'"], "unknown shorthand flag: '\\'' in -'"),
        (["--config"], "flag needs an argument: --config"),
        (
            ["--leader_elect_lease_duration"],
            "flag needs an argument: --leader_elect_lease_duration",
        ),
        (["-v"], "flag needs an argument: 'v' in -v"),
        (["--=x"], "bad flag syntax: --=x"),
        (["---v"], "bad flag syntax: ---v"),
        (
            ["-v="],
            'invalid argument "=" for "-v, --v" flag: strconv.ParseUint: parsing "=": '
            "invalid syntax",
        ),
        (
            ["--leader-elect-lease-duration=15"],
            'invalid argument "15" for "--leader-elect-lease-duration" flag: '
            'time: missing unit in duration "15"',
        ),
        (
            ["--kube-api-burst=2147483648"],
            'invalid argument "2147483648" for "--kube-api-burst" flag: strconv.ParseInt: parsing '
            '"2147483648": value out of range',
        ),
        (
            ["--kube-api-qps", "abc"],
            'invalid argument "abc" for "--kube-api-qps" flag: strconv.ParseFloat: parsing "abc": '
            "invalid syntax",
        ),
        (
            ["--kube_api_qps", 'a"\n'],
            'invalid argument "a\\"\\n" for "--kube-api-qps" flag: strconv.ParseFloat: parsing '
            '"a\\"\\n": invalid syntax',
        ),
        (
            ["--bind-address=localhost"],
            'invalid argument "localhost" for "--bind-address" flag: '
            'failed to parse IP: "localhost"',
        ),
        (
            ["--bind-address=010.0.0.1"],
            'invalid argument "010.0.0.1" for "--bind-address" flag: '
            'failed to parse IP: "010.0.0.1"',
        ),
        (
            ["--tls-curve-preferences=23,x"],
            'invalid argument "23,x" for "--tls-curve-preferences" flag: strconv.ParseInt: '
            'parsing "x": invalid syntax',
        ),
        (
            ["--tls-sni-cert-key=a,b:"],
            'invalid argument "a,b:" for "--tls-sni-cert-key" flag: '
            "empty names list is not allowed",
        ),
        (
            ["--allow-metric-labels=a"],
            'invalid argument "a" for "--allow-metric-labels" flag: '
            "a must be formatted as key=value",
        ),
        (
            ['--disabled-metrics=a"b'],
            'invalid argument "a\\"b" for "--disabled-metrics" flag: '
            'parse error on line 1, column 2: bare " in non-quoted field',
        ),
        (
            ["--vmodule=a=1,b"],
            'invalid argument "a=1,b" for "--vmodule" flag: "b" does not have the pattern=N format',
        ),
        (
            ["--vmodule=a=x"],
            'invalid argument "a=x" for "--vmodule" flag: parsing verbosity in "a=x": '
            'strconv.ParseUint: parsing "x": invalid syntax',
        ),
        (
            ["--log-text-info-buffer-size=1Q"],
            'invalid argument "1Q" for "--log-text-info-buffer-size" flag: quantities must match '
            "the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (
            ["--version=v1.35.0"],
            'invalid argument "v1.35.0" for "--version" flag: version "v1.35.0" must match '
            'major/minor/patch of default version "v1.36.4"',
        ),
        (
            ["--version=v1"],
            'invalid argument "v1" for "--version" flag: illegal version string "v1"',
        ),
    ],
)
def test_what_cannot_be_read_is_refused_in_go_words(arguments: list[str], text: str) -> None:
    assert refusal(*arguments) == text


def test_the_first_mistake_ends_the_parsing() -> None:
    assert refusal("--v=x", "--nope").startswith("invalid argument")
    assert refusal("--nope", "--v=x") == "unknown flag: --nope"


@pytest.mark.parametrize(
    ("name", "texts", "value"),
    [
        ("requestheader-group-headers", ["a,b", 'c,"d,e"'], ("a", "b", "c", "d,e")),
        ("requestheader-group-headers", [""], ()),
        ("tls-curve-preferences", ["23", "0x1d,25"], (23, 29, 25)),
        ("allow-metric-labels", ["m,l=a", "m,k=b"], {"m,l": "a", "m,k": "b"}),
        ("allow-metric-labels", ['"m,l=a,b","n,l=c"'], {"m,l": "a,b", "n,l": "c"}),
        (
            "feature-gates",
            ["A=true, kube:B=false", "C=true,"],
            {"": ("A=true", "C=true"), "kube": ("B=false",)},
        ),
        ("vmodule", ["a=1,", "b*=2"], (FileVerbosity("a", 1), FileVerbosity("b*", 2))),
        (
            "tls-sni-cert-key",
            ["a.crt, a.key", "b.crt,b.key:*.b.com, b.com"],
            (
                CertificatePair("a.crt", "a.key"),
                CertificatePair("b.crt", "b.key", ("*.b.com", "b.com")),
            ),
        ),
    ],
)
def test_lists_and_maps_add_up(name: str, texts: list[str], value: object) -> None:
    assert value_of(name, *(f"--{name}={text}" for text in texts)) == value


@pytest.mark.parametrize(
    ("text", "number"), [("8", 8), ("0x10", 16), ("010", 8), ("1_000", 1000), ("-1", -1)]
)
def test_numbers_have_gos_bases(text: str, number: int) -> None:
    assert value_of("kube-api-burst", f"--kube-api-burst={text}") == number


def test_an_empty_address_keeps_the_default() -> None:
    assert value_of("bind-address", "--bind-address=") == "0.0.0.0"
    assert value_of("bind-address", "--bind-address=::ffff:127.0.0.1") == "127.0.0.1"


def test_every_flag_becomes_an_option_of_its_type() -> None:
    options = options_of(parse_flags(["--leader-elect-retry-period=3s", "--secure-port", "0"]))
    assert options.leader_election.leader_elect_retry_period == Duration.of_seconds(3)
    assert options.secure_serving.secure_port == 0
    assert options.given == {"leader-elect-retry-period", "secure-port"}
    assert options.deprecated.kube_api_qps == 50
    assert options.authorization.authorization_always_allow_paths == (
        "/healthz",
        "/readyz",
        "/livez",
    )


@pytest.mark.parametrize("flag", all_flags(release()).values(), ids=lambda flag: flag.name)
def test_every_default_is_shown_as_a_text_that_reads_back(flag: Any) -> None:
    shown = flag.kind.shown(flag.default)
    if shown.startswith("["):
        shown = shown[1:-1]
    if shown:
        assert flag.kind.read(shown, None) == flag.default


def test_names_are_sorted_and_unique() -> None:
    for section in (*scheduler_flags(release()), LEGACY):
        names = [flag.name for flag in section.flags]
        assert names == sorted(set(names))
    assert not set(by_name(scheduler_flags(release()))) & set(by_name((LEGACY,)))


def test_a_legacy_flag_is_idle_or_has_a_successor() -> None:
    for flag in LEGACY.flags:
        assert flag.until
        assert bool(flag.idle) != (flag.name in INSTEAD)


@given(st.lists(st.text(max_size=20), max_size=6))
def test_any_words_are_parsed_or_refused(words: list[str]) -> None:
    with contextlib.suppress(FlagError):
        assert set(parse_flags(words).values) == set(all_flags(release()))
