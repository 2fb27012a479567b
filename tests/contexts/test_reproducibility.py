"""The same bytes from any number of threads, any chunks, and after a run that was killed."""

import numpy as np
import pytest
from tests.contexts.trees import random_trees
from tests.grid import one_test

import duramen as dm
from duramen.contexts import effects

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


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("permute", ["all", "within_target"])
@pytest.mark.parametrize("size", [32, 64, 300, 1024])
def test_any_size_of_chunks(data, tmp_path, monkeypatch, size, permute):
    settings = SETTINGS | {"permute": permute}
    expected = saved(dm.contexts.context_importances(*data, **settings), tmp_path / "1")
    monkeypatch.setattr(effects, "_CHUNK", size)
    result = dm.contexts.context_importances(*data, **settings)
    assert saved(result, tmp_path / "n") == expected
    monkeypatch.setattr(effects, "_MOST_NUMBERS", 1)  # as for a great many columns: 32 at a time
    result = dm.contexts.context_importances(*data, n_jobs=2, **settings)
    assert saved(result, tmp_path / "n") == expected


def test_a_network_from_any_number_of_threads(data, tmp_path):
    settings = SETTINGS | {"n_permutations": 40}
    expected = saved(dm.contexts.context_network(data[0], data[2], **settings), tmp_path / "1")
    for n_jobs in (2, 3):
        result = dm.contexts.context_network(data[0], data[2], n_jobs=n_jobs, **settings)
        assert saved(result, tmp_path / "n") == expected


def test_trees_and_permutations_do_not_depend_on_other_contexts(data):
    X, y, context = data
    first, two = (
        dm.contexts.context_importances(X, y, {name: codes}, **SETTINGS)
        for name, codes in (("one", context), ("two", context % 2))
    )
    assert (first.context_name, two.context_name) == ("one", "two")
    np.testing.assert_array_equal(first.importances, two.importances)
    unnamed = dm.contexts.context_importances(X, y, context, **SETTINGS)
    np.testing.assert_array_equal(unnamed.absolute_p_values, first.absolute_p_values)


# --- checkpoints ---------------------------------------------------------------------------------


def never(*_, **__):
    raise AssertionError("computed again")


def test_a_finished_checkpoint_is_used_again(data, tmp_path, monkeypatch):
    settings = SETTINGS | {"plain": "p_values", "n_permutations": 5}
    path = tmp_path / "run.npz"
    expected = saved(
        dm.contexts.context_importances(*data, checkpoint=path, **settings), tmp_path / "1"
    )
    assert expected == saved(dm.contexts.context_importances(*data, **settings), tmp_path / "2")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["1", "2", "run-plain.npz", "run.npz"]
    monkeypatch.setattr(effects, "context_effects", never)
    monkeypatch.setattr(effects, "within_contexts", never)
    again = dm.contexts.context_importances(*data, checkpoint=path, **settings)
    assert saved(again, tmp_path / "3") == expected
    with pytest.raises(AssertionError, match="computed again"):
        dm.contexts.context_importances(*data, **settings)


@pytest.mark.parametrize("permute", ["all", "within_target"])
def test_an_interrupted_run_goes_on(data, tmp_path, monkeypatch, permute):
    """Within the target every chunk is two calls: one for the effects, one for the relevance."""
    path = tmp_path / "run"
    done = []
    computed = effects.context_effects

    def interrupted(*arguments, first, drawn=None, **options):
        if drawn is not None:
            return computed(*arguments, first=first, drawn=drawn, **options)
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(first)
        return computed(*arguments, first=first, **options)

    settings = SETTINGS | {"permute": permute}
    monkeypatch.setattr(effects, "_CHUNK", 128)
    monkeypatch.setattr(effects, "context_effects", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dm.contexts.context_importances(*data, checkpoint=path, **settings)
    assert done == [1, 129]
    done.append(None)
    result = dm.contexts.context_importances(*data, checkpoint=path, **settings)
    assert done == [1, 129, None, 257]
    monkeypatch.undo()
    assert result.equals(dm.contexts.context_importances(*data, **settings))


@one_test
@pytest.mark.parametrize(
    "change",
    [
        {"random_state": 5},
        {"n_permutations": 301},
        {"estimator": random_trees(7, "regression")},
        {"empty": "zero"},
        {"estimator": dm.TotallyRandomizedTreesRegressor(6, max_depth=2)},
        {"permute": "all"},
        {"strata": np.arange(50) % 2},
        {"context": 1},
        {"y": 1},
        {"X": 1},
    ],
)
def test_a_checkpoint_of_another_run_is_refused(data, tmp_path, change):
    path = tmp_path / "run"
    dm.contexts.context_importances(*data, checkpoint=path, **SETTINGS)
    content = path.read_bytes()
    X, y, context = data
    if "context" in change:
        context = np.roll(context, 1)
    if "y" in change:
        y = np.roll(y, 1)
    if "X" in change:
        X = np.roll(X, 1, axis=1)
    settings = {k: v for k, v in change.items() if k not in ("context", "y", "X")}
    with pytest.raises(ValueError, match=r"the checkpoint .* of another run"):
        dm.contexts.context_importances(X, y, context, checkpoint=path, **SETTINGS | settings)
    assert path.read_bytes() == content
