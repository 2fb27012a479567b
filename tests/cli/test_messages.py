"""Messages of the library, in the words of the command line."""

import pytest

from duramen import significance
from duramen.cli import console

OPTIONS = {
    "layer": "--layer",
    "transpose": "--transpose",
    "n_permutations": "--permutations",
    "score": "--score",
    "samples_id": "--samples-id",
}


@pytest.mark.parametrize(
    "text, typed",
    [
        ("open_store: a is no store: it is empty", "a is no store: it is empty"),
        ("duramen pack: score must be 1", "--score must be 1"),
        ("max_t: n_permutations is few: got 3", "max-t: --permutations is few: got 3"),
        ("Boruta: score of rows: too few", "score of rows: too few"),
        ("--covariate: covariate_strata: X is wide", "--covariate: X is wide"),
        ("pack: layer='raw' is for .h5ad files", "--layer raw is for .h5ad files"),
        ("pack: transpose=True is not for .bed", "--transpose is not for .bed"),
        ("samples_id (--samples-id) chooses", "--samples-id chooses"),
        ("Hint: samples_id='a' (--samples-id a).", "Hint: --samples-id a."),
        ("a column (--samples-id) names", "a column (--samples-id) names"),
        ("rank.csv: line 3: no field", "rank.csv: line 3: no field"),
    ],
)
def test_functions_and_parameters_are_not_named(text, typed, monkeypatch):
    assert "max_t" in significance.catalogue
    monkeypatch.setattr(console, "option_of", OPTIONS)
    assert console.as_typed(text) == typed
