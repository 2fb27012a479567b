import numpy as np
import pytest
from scipy import stats
from tests.grid import one_test
from tests.oracles.monte_carlo import p_value

import duramen as dm
from duramen.data.recoding import with_permuted
from duramen.jobs.replicates import OBSERVED, replicate_seed
from duramen.significance import conditional_error_rate
from duramen.significance.measured import Refits, measured
from duramen.support.checks import draw_seed

FOREST = dm.ExtraTreesClassifier(10)


def problem(seed=0, n=60, p=5):
    """Two classes by two of p columns, the third the better one; the last one is constant."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    X[:, -1] = 1.0
    return X, np.where(X[:, 2] + 0.6 * X[:, 0] + 0.3 * random.normal(size=n) > 0, "yes", "no")


def noise(seed, n=40, p=6):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, p)), random.integers(0, 2, n)


def by_hand(X, y, n_permutations, seed, *, rank_based, members, stop_after=None):
    """Rates of each place before they are made monotone, by fitting estimators on arrays."""
    seed = draw_seed(seed)

    def scores(forest_seed, X, y):
        forest = dm.ExtraTreesClassifier(10, random_state=forest_seed % 2**32)
        values = dm.importances.mdi(forest.fit(X, y)).values
        return {name: np.mean(values[columns]) for name, columns in members.items()}

    observed = scores(replicate_seed(seed, OBSERVED), X, y)
    ranking = sorted(members, key=lambda name: -observed[name])
    rates = []
    for place in range(len(ranking)):
        after = rank_based == "later" and place + 1 < len(ranking)
        first_features = ranking[: place + after]
        draws = []
        for b in range(n_permutations):
            random = np.random.default_rng(replicate_seed(seed, place * n_permutations + b))
            order = random.permutation(len(y))
            permuted = X.copy()
            for name in first_features:
                permuted[:, members[name]] = X[np.ix_(order, members[name])]
            run = scores(int(random.integers(2**32)), permuted, y[order])
            best = max(run[name] for name in ranking if name not in first_features)
            if rank_based == "own":
                draws.append(sum(run[k] > run[ranking[place]] for k in ranking) <= place)
            elif after:
                draws.append(best >= min(run[name] for name in first_features))
            else:
                draws.append(best >= observed[ranking[place]])
        rates.append(p_value(1.0, draws, n_permutations, stop_after))
    return ranking, rates


GROUPS = {"a": [0, 1], "c": [2], "b": [4, 3]}


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("rank_based", [None, "later", "own"])
@pytest.mark.parametrize("feature_groups", [None, GROUPS])
def test_rates_are_those_of_permuting_and_fitting_by_hand(rank_based, feature_groups):
    X, y = problem()
    members = {f"x{j}": [j] for j in range(5)} if feature_groups is None else feature_groups
    settings = {"n_permutations": 19, "rank_based": rank_based, "feature_groups": feature_groups}
    result = conditional_error_rate(
        FOREST, X, y, measure="mdi", random_state=2, stop_at=None, **settings
    )
    ranking, rates = by_hand(X, y, 19, 2, rank_based=rank_based, members=members)
    assert list(result.names) == ranking
    np.testing.assert_allclose(result.details["estimate"], rates)
    np.testing.assert_array_equal(result.rates, np.maximum.accumulate(result.details["estimate"]))
    assert result.n_known == len(ranking)
    assert result.rates[0] == 1 / 20 or rank_based == "own"
    assert result.metadata["n_grown"] == 19 * len(rates)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("forest", [FOREST, dm.RandomForestClassifier(10)])
@pytest.mark.parametrize("seed", [0, 1])
def test_first_rate_is_the_max_t_p_value_of_the_best_feature(forest, seed):
    """Exactly: the permutations and forests are those of permuted labels."""
    X, y = noise(seed)
    result = conditional_error_rate(
        forest, X, y, measure="mdi", n_permutations=30, stop_at=None, random_state=seed
    )
    subject = measured(forest, X, y, "mdi", "test")
    null = Refits(function="test", subject=subject, seed=draw_seed(seed)).permuted_scores(30)
    assert result.rates[0] == p_value(result.scores[0], null.max(axis=1), 30)
    assert 1 / 31 < result.rates[0] < 1


def test_permuting_a_block_or_all_else_is_the_same_learning_set():
    """Trees without bootstrap do not know the order of rows, so that even forests are the same."""
    X, y = problem()
    subject = measured(FOREST, X, y, "mdi", "test")
    order = np.random.default_rng(0).permutation(60)
    back = np.argsort(order)
    data = subject.data
    block = subject.scores(7, data=data.with_table(with_permuted(data.table, [1, 3, 4], order)))
    rest = data.with_table(with_permuted(data.table, [0, 2], back))
    others = subject.scores(7, data=rest.permuted(back))
    np.testing.assert_allclose(block, others, atol=1e-12)
    assert not np.allclose(block, subject.scores(7), atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("stop_at, n_permutations", [(0.05, 39), (0.3, 39), (0.1, 20), (1.0, 20)])
def test_stopping_decides_as_all_permutations_do(stop_at, n_permutations):
    X, y = problem(3)
    settings = {"measure": "mdi", "n_permutations": n_permutations, "random_state": 1}
    every = conditional_error_rate(FOREST, X, y, stop_at=None, **settings)
    result = conditional_error_rate(FOREST, X, y, stop_at=stop_at, **settings)
    last = result.n_known - 1
    np.testing.assert_array_equal(result.rates[:last], every.rates[:last])
    above = every.rates > stop_at
    assert last == (np.flatnonzero(above)[0] if above.any() else 4)
    assert result.rates[last] > stop_at or last == 4
    assert result.selected(stop_at) == every.selected(stop_at)
    stop_after = int(np.floor(stop_at * n_permutations)) + 1
    members = {f"x{j}": [j] for j in range(5)}
    _, rates = by_hand(
        X, y, n_permutations, 1, rank_based=None, members=members, stop_after=stop_after
    )
    np.testing.assert_allclose(result.details["estimate"][: last + 1], rates[: last + 1])


# --- ties and groups -----------------------------------------------------------------------


def levels(forest, X, y):
    """Importances of few values: how often a feature splits, in steps."""
    return np.round(4 * dm.importances.frequency(forest).values)


def test_equal_scores_have_equal_rates():
    X, y = problem(n=80)
    result = conditional_error_rate(
        FOREST, X, y, measure=levels, n_permutations=19, stop_at=None, random_state=0
    )
    ties = np.flatnonzero(np.diff(result.scores) == 0)
    assert ties.size
    np.testing.assert_array_equal(result.rates[ties], result.rates[ties + 1])


def test_groups_of_one_are_the_features():
    X, y = problem()
    settings = {"n_permutations": 9, "stop_at": None, "random_state": 1}
    plain = conditional_error_rate(FOREST, X, y, **settings)
    for how in ("mean", "sum", "max"):
        singles = {f"x{j}": [j] for j in range(5)}
        grouped = conditional_error_rate(FOREST, X, y, feature_groups=singles, how=how, **settings)
        np.testing.assert_array_equal(grouped.rates, plain.rates)
        assert grouped.names == plain.names


# --- promises ------------------------------------------------------------------------------


def fraction_taken(data, n_sets, most, forest, **settings):
    """Fraction of data sets in which more than `most` features are taken at .05."""
    more = 0
    for seed in range(n_sets):
        X, y = data(seed)
        result = conditional_error_rate(
            forest, X, y, measure="mdi", n_permutations=19, random_state=seed, **settings
        )
        more += len(result.selected()) > most
    return more / n_sets


def band(n_sets, a=0.05):
    """Binomial band of a share, 99.9 %."""
    return stats.binom.ppf([0.0005, 0.9995], n_sets, a) / n_sets


def mixed(seed):
    random = np.random.default_rng(seed)
    columns = [random.integers(0, k, 40) for k in (2, 2, 3, 4, 10)]
    return np.column_stack([*columns, random.permutation(40)]), random.integers(0, 2, 40)


def correlated(seed, n=60, p=10):
    random = np.random.default_rng(seed)
    X = 0.95**0.5 * random.normal(size=(n, 1)) + 0.05**0.5 * random.normal(size=(n, p))
    return X, random.integers(0, 2, n)


def two_relevant(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 6))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("data", [noise, mixed, correlated])
def test_anything_is_taken_of_nothing_as_rarely_as_promised(data):
    low, high = band(130)
    assert low <= fraction_taken(data, 130, 0, FOREST) <= high


@pytest.mark.slow
def test_more_than_what_is_relevant_is_taken_as_rarely_as_promised():
    assert fraction_taken(two_relevant, 100, 2, FOREST) <= band(100)[1]


@pytest.mark.slow
def test_by_rank_the_promise_holds_for_independent_features_and_not_for_correlated_ones():
    """Figures of the guide: about .05 for independent features, .11 for correlated ones.

    100 data sets; the bands are those of these figures.
    """
    forest = dm.RandomForestClassifier(100)
    assert fraction_taken(noise, 100, 0, forest, rank_based="later") <= band(100)[1]
    low, high = band(100, 0.11)
    fraction = fraction_taken(correlated, 100, 0, forest, rank_based="later")
    assert max(low, 0.05) < fraction <= high


# --- engine, errors ------------------------------------------------------------------------


def test_wrong_arguments_are_refused():
    for changes, message in (
        ({"n_permutations": 18}, r"no rate is below 0\.0526.*Hint: n_permutations=20"),
        ({"stop_at": 0.0}, "n_permutations=more"),
        ({"feature_groups": {"a": [0, 1], "b": [1]}}, "feature_groups must not overlap"),
    ):
        with pytest.raises(ValueError, match=message):
            conditional_error_rate(FOREST, *problem(), **{"n_permutations": 19, **changes})
