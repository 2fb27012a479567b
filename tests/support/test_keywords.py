"""Keywords that several functions share: signature, defaults, refusals, documentation."""

import inspect
import re
from typing import TypedDict, Unpack

import pytest

import duramen as dm
from duramen.support.keywords import takes_keywords


class Ends(TypedDict, total=False):
    low: int
    high: "int | None"


ENDS: Ends = {"low": 0, "high": None}


@takes_keywords(Ends, ENDS)
def between(x, *, strict=False, verbose=0, **ends: Unpack[Ends]):
    """Return what came."""
    return x, strict, verbose, ends


def test_the_body_has_all_keywords():
    assert between(1) == (1, False, 0, {"low": 0, "high": None})
    assert between(1, high=3, strict=True) == (1, True, 0, {"low": 0, "high": 3})
    between(1, low=5)
    assert ENDS == {"low": 0, "high": None}


def test_the_signature_lists_them_before_the_parameters_of_execution():
    parameters = inspect.signature(between).parameters
    assert list(parameters) == ["x", "strict", "low", "high", "verbose"]
    assert parameters["high"].default is None
    assert str(parameters["high"]) == "high: 'int | None' = None"


def test_an_unknown_keyword_is_refused_with_the_closest():
    with pytest.raises(TypeError, match=r"between: 'hihg' is not .* Hint: did you mean 'high'\?"):
        between(1, hihg=2)
    with pytest.raises(TypeError, match=r"Hint: use x, strict, low, high, verbose\."):
        between(1, quantile=2)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        between(low=1)


def test_defaults_and_types_have_the_same_names():
    with pytest.raises(ValueError, match="Ends and its defaults must have the same names"):
        takes_keywords(Ends, {"low": 0})


def test_every_shared_keyword_is_documented():
    analyses = (dm.rank, dm.select, dm.compare, dm.context_importances)
    for function in (*analyses, dm.genie3, dm.pack, dm.io.read_table):
        documented = re.findall(r"^    (\S.*?) : ", function.__doc__, re.MULTILINE)
        names = {name for entry in documented for name in entry.split(", ")}
        left = set(inspect.signature(function).parameters) - names
        assert left <= {"n_features", "score", "n_resamples", "test_size", "selection"}
    with pytest.raises(TypeError, match=r"rank: 'stratum' .*did you mean 'strata'"):
        dm.rank([[0], [1]], [0, 1], stratum="x")
    for name in ("strata", "sample_weight"):
        assert name not in inspect.signature(dm.compare).parameters
