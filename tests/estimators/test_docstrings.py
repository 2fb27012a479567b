"""Docstrings of the estimators, and the documentation of the catalogues."""

import dataclasses
import importlib.util
import inspect
from pathlib import Path

import pytest
from tests.grid import one_test

import duramen as dm
from duramen.estimators.base import BaseForest
from duramen.estimators.catalogue import FORESTS
from duramen.forests.settings import CRITERIA, FAMILIES

ROOT = Path(__file__).resolve().parents[2]
CLASSES = [kind for forest in FORESTS for kind in forest.estimators]


def tool():
    """The script that writes the parameters into the docstrings."""
    path = ROOT / "tools" / "docstrings.py"
    spec = importlib.util.spec_from_file_location("docstrings", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@one_test
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_parameters_are_documented_as_in_the_catalogue(kind):
    expected = inspect.cleandoc(tool().parameter_block(kind))
    assert expected in inspect.getdoc(kind)
    order = [field.name for field in dataclasses.fields(BaseForest)]
    names = list(inspect.signature(kind).parameters)
    assert names == sorted(names, key=order.index)


def test_every_forest_is_public_and_documented():
    pages = ROOT / "docs" / "how-to"
    guide = "".join(
        (pages / "forests" / name).read_text("utf-8") for name in ("forests.md", "splits.md")
    )
    options = (pages / "ranking" / "rank-options.md").read_text(encoding="utf-8")
    for forest in FORESTS:
        assert f"`{forest.name}`" in options
        assert f"`{forest.names[0]}`" in guide
        for kind in forest.estimators:
            assert getattr(dm, kind.__name__) is kind
        words = forest.names[0].removesuffix("Classifier").lower()
        assert forest.name.replace("-", "") == words
    for family in FAMILIES:
        assert f'`"{family}"`' in guide
    assert {criterion.unit for criterion in CRITERIA.values()} == {
        "gini",
        "bits",
        "variance",
        "chi-square",
    }
