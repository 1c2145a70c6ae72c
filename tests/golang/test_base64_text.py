"""Base64 as Go reads it."""

import pytest

from podium.golang.base64_text import Base64Error, base64_fault, decode_base64


def test_bytes_are_base64_with_padding() -> None:
    assert decode_base64("YWI=\n") == b"ab"
    with pytest.raises(Base64Error, match="illegal base64 data at input byte 0"):
        decode_base64("YW")
    with pytest.raises(Base64Error, match="illegal base64 data at input byte 1"):
        decode_base64("Y?==")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("!!", 0),
        ("YQ", 0),
        ("YWJjYQ", 4),
        ("Y Q==", 1),
        ("YQ==YQ==", 4),
        ("YQ=a", 2),
        ("=", 0),
        ("Y=Q=", 1),
        ("YQ===", 4),
        ("YQ=", 3),
        ("YQ==", None),
        ("YWE=", None),
        ("YQ=\n=\n", None),
        ("", None),
    ],
)
def test_the_place_of_a_fault_in_base64_is_the_one_go_finds(text: str, at: int | None) -> None:
    assert base64_fault(text) == at
    if at is not None:
        with pytest.raises(Base64Error, match=f"at input byte {at}$"):
            decode_base64(text)
