"""Docstrings of the estimators."""

import dataclasses
import inspect

import pytest
from tests.grid import one_test
from tests.scripts import script

from duramen.estimators.base import BaseForest
from duramen.estimators.catalogue import FORESTS

CLASSES = [kind for forest in FORESTS for kind in forest.estimators]


@one_test
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_parameters_are_documented_as_in_the_catalogue(kind):
    expected = inspect.cleandoc(script("tools/docstrings.py").parameter_block(kind))
    assert expected in inspect.getdoc(kind)
    order = [field.name for field in dataclasses.fields(BaseForest)]
    names = list(inspect.signature(kind).parameters)
    assert names == sorted(names, key=order.index)
