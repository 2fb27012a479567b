"""Docstrings of the estimators."""

import dataclasses
import importlib.util
import inspect
from pathlib import Path

import pytest
from tests.grid import one_test

from duramen.estimators.base import BaseForest
from duramen.estimators.catalogue import FORESTS

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
