"""P-values of links: the oracle, and the null on which nothing regulates anything."""

import numpy as np
import pytest
from scipy import stats

import duramen as dm
from duramen.jobs.replicates import replicate_seed


def forest_of(n_estimators):
    return dm.RandomForestRegressor(n_estimators, max_features="sqrt")


def test_p_values_are_counts_of_permuted_scores():
    rng = np.random.default_rng(0)
    expression = rng.standard_normal((30, 5))
    settings = {"estimator": forest_of(20), "n_permutations": 4, "random_state": 1}
    pooled = dm.genie3(expression, null="pooled", **settings)
    single = dm.genie3(expression, null="source", **settings)
    seed = replicate_seed(pooled.metadata["seed"], 0)
    y = expression[:, 0]
    y = (y - y.mean()) / y.std()
    nulls = []
    for b in range(4):
        seed_b = replicate_seed(seed, b)
        order = np.random.default_rng(seed_b).permutation(30)
        forest = dm.RandomForestRegressor(20, max_features="sqrt", random_state=seed_b % 2**32)
        nulls.append(dm.importances.mdi(forest.fit(expression[:, 1:], y[order])).values)
    scores = pooled.weights[1:, 0]
    at_least = np.array(nulls)[:, :, None] >= scores - 1e-13
    assert np.allclose(pooled.p_values[1:, 0], (1 + at_least.sum(axis=(0, 1))) / (1 + 16))
    own = np.array([at_least[:, i, i].sum() for i in range(4)])
    assert np.allclose(single.p_values[1:, 0], (1 + own) / 5)
    assert (np.diag(pooled.p_values) == 1).all()
    assert dm.genie3(expression, **settings).equals(pooled)  # numbers without ties are pooled


def test_true_links_have_small_q_values():
    made = dm.datasets.gene_network(150, 8, n_links=5, noise=0.02, random_state=0)
    network = dm.genie3(made.expression, estimator=forest_of(50), n_permutations=20, random_state=0)
    q = network.q_values()
    assert (q[made.links] <= 0.1).sum() >= 3
    assert ((q >= network.p_values) | (q == 1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["heavy", "counts", "factors"])
def test_type_one_error_where_each_gene_is_permuted_on_its_own(kind):
    # 8 networks of 6 genes: 240 links. Links of a network are dependent: the band is that of the
    # rates of the 8 networks, their mean ± the 99.5 % quantile of t times its standard error.
    # 99 permutations: levels of .05 and .01 are attained also by p-values of single sources.
    rng = np.random.default_rng(7)
    off = ~np.eye(6, dtype=bool)
    rates = {0.05: [], 0.01: []}
    for seed in range(8):
        factors = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 6))
        expression = {
            "heavy": rng.standard_cauchy((40, 6)),
            "counts": rng.poisson(1.5, (40, 6)).astype(float),
            "factors": factors + 0.3 * rng.standard_normal((40, 6)),
        }[kind]
        expression = np.apply_along_axis(rng.permutation, 0, expression)
        network = dm.genie3(
            expression, estimator=forest_of(10), n_permutations=99, random_state=seed
        )
        for level, rate in rates.items():
            rate.append((network.p_values <= level)[off].mean())
    for level, rate in rates.items():
        error = np.std(rate, ddof=1) / np.sqrt(len(rate))
        reach = stats.t.ppf(0.995, len(rate) - 1) * error
        assert abs(np.mean(rate) - level) <= reach, (level, np.mean(rate), error)
