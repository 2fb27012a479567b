"""Names are shown on one short line, whatever is in them."""

import pytest
from tests.grid import one_test

from duramen.support.text import first_line, printable, quoted, width


@one_test
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("gene", "gene"),
        ("x\n\x1b[31m\u202e", "x\\n\\x1b[31m\\u202e"),
        ("\u200b\u2028\x85\x00", "\\u200b\\u2028\\x85\\x00"),
        ("\ud800", "\\ud800"),
        ("遺伝子", "遺伝子"),
    ],
)
def test_control_characters_are_spelled_out(text: str, shown: str) -> None:
    assert printable(text) == shown


@one_test
@pytest.mark.parametrize("text", ["a" * 10**6, "遺" * 10**6, "e\u0301" * 10**6, "\u0301" * 10**6])
def test_long_text_is_cut_in_the_middle(text: str) -> None:
    shown = printable(text, 20)
    assert "…" in shown
    assert width(shown) <= 20
    assert len(shown) <= 200
    assert len(quoted(text)) <= 110
    assert len(first_line(ValueError(text))) <= 900
