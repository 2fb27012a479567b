"""Notes: carried by the results of tests, printed, saved and loaded with them."""

import pickle
import warnings

import pytest
from tests.grid import one_test

from duramen import Importances, Significance
from duramen.results.result import warn_of
from duramen.results.significance import ErrorRates, Intervals

FIRST = "only 3 of 9 importances are negative; p-values are coarse"
LONG = "with more than one candidate the counts vary far more than the distribution allows " * 3
NAMES = ("a", "b")


def significance(**changes):
    return Significance(NAMES, [1.0, 2.0], [0.5, 0.1], "janitza", "No effect.", **changes)


def error_rates(**changes):
    return ErrorRates(NAMES, [2.0, 1.0], [0.1, 0.5], "fdr_curve", "A rate.", **changes)


def intervals(**changes):
    numbers = ([2.0, 1.0], [0.5, 0.5], [1.0, 0.0], [3.0, 2.0])
    options = {"p_values": [0.01, 0.2], **changes}
    return Intervals(NAMES, *numbers, 0.95, "mda", "accuracy", "subsampling", "wilson", **options)


KINDS = (significance, error_rates, intervals)


@one_test
@pytest.mark.parametrize("kind", KINDS)
def test_results_carry_print_and_keep_their_notes(kind, tmp_path):
    result = kind(notes=[FIRST, LONG, FIRST])
    assert result.notes == (FIRST, LONG)
    lines = repr(result).splitlines()
    assert lines[: len(repr(kind()).splitlines())] == repr(kind()).splitlines()
    printed = " ".join(" ".join(lines).split())
    assert f"note: {FIRST}" in printed
    assert f"note: {LONG.strip()}" in printed
    assert max(map(len, lines)) <= 100
    result.save(tmp_path / "result")
    for back in (type(result).load(tmp_path / "result"), pickle.loads(pickle.dumps(result))):
        assert back.notes == result.notes
        assert back.equals(result)
    assert result.top(1).notes == result.notes
    assert result.equals(kind())  # words may change between versions, numbers not


def test_without_notes_nothing_is_printed():
    assert all(kind().notes == () and "note:" not in repr(kind()) for kind in KINDS)
    assert Importances(NAMES, [1.0, 2.0], "mdi", "1").notes == ()


@one_test
@pytest.mark.parametrize(
    ("notes", "kind", "message"),
    [
        ("one", TypeError, "notes must be a sequence of strings, got 'one'"),
        ([1], TypeError, r"notes must be a sequence of strings, got \[1\]"),
        ([" "], ValueError, "notes must not be empty"),
    ],
)
def test_refuses(notes, kind, message):
    with pytest.raises(kind, match=message):
        significance(notes=notes)


def test_warnings_name_the_function_and_the_caller():
    def public():
        warn_of("public", [FIRST, "more"])

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        public()
    assert [str(warning.message) for warning in caught] == [f"public: {FIRST}", "public: more"]
    assert all(warning.filename == __file__ for warning in caught)
