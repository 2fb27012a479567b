"""Results do not depend on threads, chunks, or a killed run, byte for byte."""

import numpy as np
import pytest
from tests.contexts.trees import random_trees

import duramen as dm
from duramen.contexts import importances

SETTINGS = {"estimator": random_trees(6, "regression"), "n_permutations": 300, "random_state": 3}


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.integers(0, 3, (50, 4)).astype(str)
    return X, random.normal(size=50) + (X[:, 0] == "1"), random.integers(0, 3, 50)


def saved(result, path):
    result.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("plain", ["importances", "p_values"])
def test_any_number_of_threads(data, tmp_path, plain):
    settings = SETTINGS | {"plain": plain}
    if plain == "p_values":
        settings |= {"n_permutations": 7}
    expected = saved(dm.contexts.context_importances(*data, **settings), tmp_path / "1")
    for n_jobs in (2, 3, -1):
        result = dm.contexts.context_importances(*data, n_jobs=n_jobs, **settings)
        assert saved(result, tmp_path / "n") == expected
    other = dm.contexts.context_importances(*data, **settings | {"random_state": 4})
    assert saved(other, tmp_path / "n") != expected


def test_trees_and_permutations_do_not_depend_on_other_contexts(data):
    X, y, context = data
    first, two = (
        dm.contexts.context_importances(X, y, {name: codes}, **SETTINGS)
        for name, codes in (("one", context), ("two", context % 2))
    )
    np.testing.assert_array_equal(first.importances, two.importances)
    unnamed = dm.contexts.context_importances(X, y, context, **SETTINGS)
    np.testing.assert_array_equal(unnamed.absolute_p_values, first.absolute_p_values)


# --- checkpoints ---------------------------------------------------------------------------------


@pytest.mark.parametrize("permute", ["all", "within_target"])
def test_an_interrupted_run_goes_on(data, tmp_path, monkeypatch, permute):
    """Within the target every chunk is two calls: one for the effects, one for the relevance."""
    path = tmp_path / "run"
    done = []
    computed = importances.context_effects

    def interrupted(*arguments, first=0, drawn=None, **options):
        if first == 0 or drawn is not None:
            return computed(*arguments, first=first, drawn=drawn, **options)
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(first)
        return computed(*arguments, first=first, **options)

    settings = SETTINGS | {"permute": permute}
    monkeypatch.setattr(importances, "_CHUNK", 128)
    monkeypatch.setattr(importances, "context_effects", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dm.contexts.context_importances(*data, checkpoint=path, **settings)
    assert done == [1, 129]
    done.append(None)
    result = dm.contexts.context_importances(*data, checkpoint=path, **settings)
    assert done == [1, 129, None, 257]
    monkeypatch.undo()
    assert result.equals(dm.contexts.context_importances(*data, **settings))
