"""Links that depend on a context: every variable in turn is the target."""

import numpy as np
import pandas as pd
import pytest
from tests.contexts.trees import random_trees
from tests.grid import one_test

import duramen as dm
from duramen.contexts import network
from duramen.contexts.importances import analyze
from duramen.jobs.replicates import replicate_seed
from duramen.support.checks import draw_seed

SETTINGS = {"estimator": random_trees(5), "n_permutations": 9, "random_state": 2}


def switched(n=80, seed=0):
    """In context "a" the variable v follows u, in context "b" it follows w."""
    random = np.random.default_rng(seed)
    u, w, other = random.normal(size=(3, n))
    context = np.where(np.arange(n) % 2, "b", "a")
    v = np.where(context == "a", u, w) + 0.1 * random.normal(size=n)
    return pd.DataFrame({"u": u, "v": v, "w": w, "other": other}), context


@pytest.fixture(scope="module")
def result():
    X, context = switched()
    return dm.contexts.context_network(
        X, context, estimator=random_trees(100), n_permutations=199, random_state=0
    )


@pytest.mark.slow
def test_links_that_are_there(result):
    names = result.names
    assert names == tuple(result.analyses) == ("u", "v", "w", "other")
    assert result.contexts == ("a", "b")
    u, v, w, other = range(4)
    for context, strong, weak in (("a", u, w), ("b", w, u)):
        signed = result.in_context(context, "signed").weights
        assert signed[strong, v] < 0 < signed[weak, v]
        # from source to target: u tells of v what v tells of u
        assert signed[v, strong] < 0
        mask = result.mask("absolute", context)
        assert mask[strong, v]
        assert mask[v, strong]
        assert not mask[other].any()
        assert not mask[:, other].any()
        assert not mask.diagonal().any()


def test_a_target_is_an_analysis_of_its_own():
    """The forest of target j is that of replicate seed j; what else is drawn is so from the seed of
    the network. Class targets are taken as they are, numbers scaled to variance 1."""
    X, context = switched()
    X["word"] = np.where(X["u"] > 0, "up", "down")
    network = dm.contexts.context_network(X, context, **SETTINGS)
    seed = draw_seed(2)
    for j, target in enumerate(network.analyses):
        y = (
            X[target]
            if target == "word"
            else (X[target] - X[target].mean()) / X[target].std(ddof=0)
        )
        inputs = X.drop(columns=target)
        task = "classification" if target == "word" else "regression"
        settings = SETTINGS | {"estimator": random_trees(5, task)}
        of_forest = {"random_state": Exactly(replicate_seed(seed, j))}
        same_forest = dm.contexts.context_importances(inputs, y, context, **settings | of_forest)
        same_rest = dm.contexts.context_importances(inputs, y, context, **settings)
        analysis = network.analyses[target]
        for effect in ("importances", "absolute", "signed", "conditional", "overall"):
            wanted = getattr(same_forest, effect)
            np.testing.assert_allclose(getattr(analysis, effect), wanted, rtol=1e-9, atol=1e-12)
        assert analysis.relevance == pytest.approx(same_forest.relevance, rel=1e-9)
        np.testing.assert_allclose(analysis.within, same_rest.within, rtol=1e-9, atol=1e-12)
        assert analysis.unit == ("bits" if target == "word" else "variance")


class Exactly(np.random.Generator):
    """A `random_state` that draws this seed."""

    def __init__(self, seed):
        super().__init__(np.random.PCG64(0))
        self.seed = seed

    def integers(self, *_, **__):
        return self.seed


def test_targets_are_jobs(tmp_path, monkeypatch):
    """On threads, and after an interruption, the network is the same."""
    X, context = switched()
    alone = dm.contexts.context_network(X, context, **SETTINGS)
    assert_same(alone, dm.contexts.context_network(X, context, n_jobs=3, **SETTINGS))
    checkpoint, done = tmp_path / "network", []

    def interrupted(*arguments, **options):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(arguments)
        return analyze(*arguments, **options)

    monkeypatch.setattr(network, "analyze", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dm.contexts.context_network(X, context, checkpoint=checkpoint, **SETTINGS)
    assert [file.name for file in tmp_path.iterdir()] == ["network"]
    done[:] = [None]
    monkeypatch.setattr(
        network,
        "analyze",
        lambda *arguments, **options: done.append(arguments) or analyze(*arguments, **options),
    )
    assert_same(alone, dm.contexts.context_network(X, context, checkpoint=checkpoint, **SETTINGS))
    assert len(done) == 3  # two were kept, two of four are new
    more = {"estimator": random_trees(6)}
    for change in ({"empty": "zero"}, {"random_state": 3}, {"n_bins": 2}, more):
        with pytest.raises(ValueError, match=r"the checkpoint .* of another run"):
            dm.contexts.context_network(X, context, checkpoint=checkpoint, **SETTINGS | change)


def assert_same(first, other):
    assert first.equals(other)
    assert first.metadata == other.metadata
    for target in first.analyses:
        assert first.analyses[target].metadata == other.analyses[target].metadata
        assert first.analyses[target].notes == other.analyses[target].notes


def test_constant_columns_are_no_targets():
    X, context = switched()
    X.insert(1, "one", 1.0)
    network = dm.contexts.context_network(X, context, **SETTINGS)
    assert network.names == ("u", "one", "v", "w", "other")
    assert tuple(network.analyses) == ("u", "v", "w", "other")
    in_a = network.in_context("a")
    assert in_a.weights[1].tolist() == [0] * 5
    assert (in_a.p_values[1] == 1).all()
    asked = dm.contexts.context_network(X, context, targets=["one"], **SETTINGS)
    assert asked.in_context("a").weights.max() == 0


@one_test
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"context": {"a": np.arange(80) % 2, "b": np.arange(80) % 3}}, "must be a single context"),
        ({"X": np.arange(80.0).reshape(-1, 1)}, "X must have at least two variables"),
        ({"targets": ["nobody"]}, "targets holds 'nobody', which is none of the 4 features"),
        ({"context": "nobody"}, "'nobody' is not a column of X"),
        ({"n_bins": 1}, ": n_bins must be an int >= 2"),
    ],
)
def test_what_is_refused(changes, message):
    X, context = switched()
    with pytest.raises(ValueError, match=message) as caught:
        dm.contexts.context_network(**{"X": X, "context": context} | SETTINGS | changes)
    assert "context_network" in str(caught.value)


def test_a_target_with_missing_values_is_refused():
    X, context = switched()
    X.loc[3, "w"] = np.nan
    with pytest.raises(ValueError, match=r"context_network: 'w' must have no missing values.*Hint"):
        dm.contexts.context_network(X, context, **SETTINGS)
    whole = dm.contexts.context_network(X, context, targets=["u", "v", "other"], **SETTINGS)
    assert len(whole.analyses) == 3
