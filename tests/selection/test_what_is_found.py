"""Searches against their model, and what the tests of relevance find; `benchmarks/srs` has more."""

import numpy as np
import pytest
from benchmarks.srs.model import SMALL, Positive, population, sample, trees_until_found

import duramen as dm
from duramen.selection import SequentialRandomSubspace
from duramen.theory import expected_trees

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("setting", SMALL, ids=lambda setting: setting[0])
def test_real_trees_on_the_distribution_against_the_model(setting, keep):
    """50 searches; constants beside the relevant features, so that any importance is relevance.

    Chains and marginal features are found as the model has it. Of a clique the model says that one
    feature is found by a tree, the last on all its paths: paths of a real tree end with different
    ones, so that trees find more.
    """
    scenario, p, q, r = setting
    X, y = population(scenario, p, r)
    model = expected_trees(scenario, n_features=p, subspace=q, n_relevant=r, keep=keep)
    results = [
        trees_until_found(X, y, r, q, keep, 1, seed, Positive(), int(40 * model))
        for seed in range(50)
    ]
    error = np.std(results, ddof=1) / np.sqrt(50)
    if scenario == "clique":
        assert 0.4 * model < np.mean(results) < 0.9 * model
        assert np.mean(results) < model - 3 * error
    else:
        assert abs(np.mean(results) - model) < 3 * error


@pytest.mark.parametrize(("seed", "alpha"), [(0, 0.0), (1, 0.5)])
def test_features_of_two_values_that_matter_alone_are_found(seed, alpha):
    """Six bits, each of which is the class in a sixth of 2000 rows, among 200.

    With plain decreases of impurity they are lost: a bit is used once on a path, and gets nothing
    further down, where chance gives the others more than that. And beneath six strong features
    chance recurs in all trees, which is no reason to find more than these.
    """
    X, y = sample("marginal", 200, 6, 2000, seed)
    search = dm.SequentialRandomSubspace(
        n_estimators=500, n_subspace_features=40, keep=alpha, random_state=0
    )
    model = search.fit(X, y)
    assert np.count_nonzero(model.selected_ < 6) >= 5
    assert np.count_nonzero(model.selected_ >= 6) <= 1


@pytest.mark.parametrize("criterion", ["gini", "variance"])
def test_the_fraction_of_false_finds_beside_two_strong_features(criterion):
    """25 samples of 150 rows, 101 columns: at a level of .05, at most .1 on average.

    The standard error is about .025; trees are looked at one by one, which costs something too.
    """
    result, false = [], []
    for seed in range(25):
        random = np.random.default_rng(seed)
        X = random.integers(0, 3, (150, 101))
        y = X[:, 7] + X[:, 11] + random.normal(size=150) * (0.1 if criterion == "gini" else 1)
        target = (y > 2).astype(int) if criterion == "gini" else y
        search = dm.SequentialRandomSubspace(
            n_estimators=120, n_subspace_features=30, random_state=seed
        )
        among = np.isin(search.fit(X, target).selected_, [7, 11])
        result.append(among.sum())
        false.append(np.mean(~among) if len(among) else 0)
    assert np.mean(result) > 1.9
    assert np.mean(false) < 0.1


def populations(seed, n=200, p=300, markers=40):
    """Genotypes of two populations, which differ in the disease and in the first SNPs."""
    random = np.random.default_rng(seed)
    hills = np.arange(n) % 2
    frequency = np.tile(random.uniform(0.2, 0.5, p), (2, 1))
    frequency[1, :markers] += 0.35
    X = random.binomial(2, frequency[hills])
    odds = 2.0 * hills - 1.0 + 2.0 * (X[:, 100] - 0.8)
    ill = random.random(n) < 1 / (1 + np.exp(-2 * odds))
    return X, np.where(ill, "case", "control"), hills


def test_markers_of_strata_are_not_found_within_them():
    """SNP 100 is relevant; 40 others are associated with the disease by the population alone."""
    markers, causal, plain = 0, 0, 0
    for seed in range(3):
        X, y, hills = populations(seed)
        results = []
        for strata in (None, hills):
            search = SequentialRandomSubspace(
                dm.ExtraTreesClassifier(criterion="entropy", max_features=None),
                n_estimators=400,
                n_subspace_features=60,
                random_state=seed,
            )
            search.fit(dm.learning_set(X, y, strata=strata))
            results.append(set(search.selected_.tolist()))
        plain += len([j for j in results[0] if j < 40])
        markers += len([j for j in results[1] if j < 40])
        causal += 100 in results[1]
    assert causal >= 2
    assert plain >= 6
    assert markers <= 2


def test_probes_of_any_column_and_strata_are_refused():
    X, y, hills = populations(0, n=40, p=120)
    data = dm.learning_set(X, y, strata=hills)
    search = SequentialRandomSubspace(
        n_estimators=5, n_subspace_features=10, relevance="probe", random_state=0
    )
    with pytest.raises(ValueError, match="relevance must be 'decoy' with strata"):
        search.fit(data)
