"""P-values where no feature depends on the context, and the rows that exchange contexts.

Inputs depend on each other and the target on them. Fractions of p-values up to .01, .05 and .1 lie
in the band that holds a binomial share with probability .999. With 199 permutations these levels
can be reached exactly, by one side or by two; ties, which make p-values larger, are rare.
"""

import numpy as np
import pytest
from benchmarks.error_rates import context_nulls
from scipy import stats
from tests.contexts.trees import as_context, random_trees
from tests.grid import one_test

import duramen as dm
from duramen.contexts.effects import context_effects
from duramen.contexts.inputs import growth_of, template_for
from duramen.contexts.nulls import Null, equal_nulls, quantile_bins
from duramen.data import Exchangeability, learning_set
from duramen.jobs.replicates import replicate_seed
from duramen.support.checks import draw_seed

LEVELS = (0.01, 0.05, 0.1)
EVERY = np.arange(2)
EFFECTS = ("absolute", "signed", "overall", "relevance")


def band(level, count):
    return stats.binom.interval(0.999, count, level)


def data_set(seed, task, n=36):
    random = np.random.default_rng(seed)
    first = random.integers(0, 3, n)
    second = np.where(random.random(n) < 0.5, first, random.integers(0, 3, n))
    X = np.column_stack([first, second, random.integers(0, 2, n)])
    context = random.permutation(np.arange(n) % 3 if task == "regression" else np.arange(n) % 2)
    if task == "regression":
        return X, first + second * X[:, 2] + random.normal(size=n), context
    return X, (first + (random.random(n) < 0.3)) % 3, context


def p_values(task, replicates, effects=EFFECTS, **options):
    actual = {effect: [] for effect in effects}
    for seed in range(replicates):
        X, y, context = data_set(seed, task)
        chosen = {"n_permutations": 199, **options}
        result = dm.contexts.context_importances(
            X.astype(str), y, context, random_state=seed, **chosen
        )
        for effect in effects:
            name = "relevance_p_value" if effect == "relevance" else f"{effect}_p_values"
            actual[effect].append(np.ravel(getattr(result, name)))
    return {effect: np.array(values) for effect, values in actual.items()}


def assert_uniform(values, what):
    """Of every feature and context; values has a row a replicate."""
    for level in LEVELS:
        low, high = band(level, len(values))
        counts = (values <= level + 1e-12).sum(axis=0)
        assert ((low <= counts) & (counts <= high)).all(), (what, level, counts.tolist(), low, high)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_p_values_are_uniform(task):
    """200 replicates; 10 trees."""
    options = {"estimator": random_trees(10, task), "plain": "none", "permute": "all"}
    for effect, values in p_values(task, 200, **options).items():
        assert_uniform(values, effect)


@pytest.mark.slow
def test_p_values_of_ordered_splits_are_uniform():
    """200 replicates; the trees do not depend on the context, so that any will do."""
    trees = dm.TotallyRandomizedTreesRegressor(5, splits="ordered", max_depth=3)
    result = p_values("regression", 200, estimator=trees, plain="none", permute="all")
    for effect, values in result.items():
        assert_uniform(values, effect)


@pytest.mark.slow
def test_p_values_of_random_forests_are_uniform():
    """200 replicates; bags and best cuts do not depend on the context either."""
    trees = dm.RandomForestRegressor(5, max_features=2)
    result = p_values("regression", 200, estimator=trees, plain="none", permute="all")
    for effect, values in result.items():
        assert_uniform(values, effect)


def test_random_forests_find_a_context():
    """y follows x0 in one context and x1 in the other; x2 is noise."""
    random = np.random.default_rng(0)
    X, context = random.normal(size=(120, 3)), random.integers(0, 2, 120)
    y = np.where(context == 0, X[:, 0], X[:, 1]) > 0
    forest = dm.RandomForestClassifier(30, max_features=2)
    result = dm.contexts.context_importances(
        X, y, context, estimator=forest, n_permutations=199, random_state=0
    )
    assert result.absolute_p_values[:, :2].max() <= 0.05
    assert result.absolute_p_values[:, 2].min() > 0.05
    assert result.plain[0, 1] > 0 > result.plain[0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_p_values_of_the_plain_effect_are_uniform(task):
    """40 replicates, as every permutation grows a forest in each context; 3 trees.

    With 119 permutations .05 and .1 are reached exactly by two sides; no p-value is below .016.
    """
    options = {"plain": "p_values", "permute": "all", "n_permutations": 119}
    result = p_values(task, 40, ("plain",), estimator=random_trees(3, task), **options)
    assert_uniform(result["plain"], "plain")


@pytest.mark.parametrize("permute", ["within_target", "all"])
def test_p_values_find_a_context(permute):
    """Power: without it the tests of the null say nothing."""
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (60, 3))
    context = random.integers(0, 2, 60)
    y = np.where(context == 0, X[:, 0], X[:, 1])
    result = dm.contexts.context_importances(
        X.astype(str),
        y,
        context,
        estimator=random_trees(20),
        n_permutations=199,
        permute=permute,
        plain="p_values",
        random_state=0,
    )
    for effect in ("absolute", "signed", "plain"):
        assert result.p_values(effect)[:, :2].max() <= 0.05
        assert result.p_values(effect)[:, 2].min() > 0.05
    # The last two are features that say something in one context only.
    assert result.verdicts(control="none")[:, :2].tolist() == [
        ["complementary", "irrelevant"],
        ["irrelevant", "complementary"],
    ]


@pytest.mark.parametrize("permute", ["within_target", "all"])
def test_p_values_count_permutations(permute):
    """(1 + #{as large}) / (1 + R), from the permutations themselves; two-sided for signed.

    The relevance is always that of permutations among all rows.
    """
    X, y, context = data_set(3, "regression")
    n, seed = 140, draw_seed(4)
    trees, data = random_trees(7, "regression"), learning_set(X.astype(str), y)
    settings = {"n_permutations": n, "plain": "none", "random_state": 4, "permute": permute}
    result = dm.contexts.context_importances(data, None, context, estimator=trees, **settings)
    first, options = growth_of(data, template_for(trees, "test"), seed, "test"), as_context(context)
    forest = first.forest(seed)
    every = context_effects(forest, first, options, "skip", seed=seed, n_permutations=n + 1)
    drawn = every
    if permute == "within_target":
        (null,) = equal_nulls(first, permute, "test").effects
        codes = np.vstack([options.codes, null.draws(options.codes, seed, 1, n)])
        drawn = context_effects(forest, first, options, "skip", seed=seed, drawn=codes)
    for effect in ("absolute", "signed", "overall", "relevance"):
        values = getattr(every if effect == "relevance" else drawn, effect)
        observed, permuted = values[0], values[1:]
        above = (permuted >= observed - 1e-12).sum(axis=0)
        below = (permuted <= observed + 1e-12).sum(axis=0)
        if effect in ("absolute", "relevance"):
            wanted = (1 + above) / (n + 1)
        else:
            wanted = np.minimum(1, 2 * (1 + np.minimum(above, below)) / (n + 1))
        name = "relevance_p_value" if effect == "relevance" else f"{effect}_p_values"
        np.testing.assert_allclose(getattr(result, name), wanted, rtol=0, atol=1e-15)


# --- rows that exchange contexts -----------------------------------------------------------------


def subject(y, n_columns=2, **rows):
    X = np.random.default_rng(0).integers(0, 2, (len(y), n_columns)).astype(str)
    return growth_of(learning_set(X, y, **rows), template_for(random_trees(2), "test"), 0, "test")


def test_contexts_are_permuted_within_classes():
    y, context = np.repeat(["a", "b", "c"], [10, 20, 30]), np.arange(60) % 4
    rows = equal_nulls(subject(y), "within_target", "test").effects[0].rows
    drawn = Null(rows, EVERY).draws(as_context(context).codes, 5, 1, 40)
    assert drawn.shape == (40, 60)
    assert len(np.unique(drawn, axis=0)) == 40
    for label in "abc":
        inside = np.sort(drawn[:, y == label], axis=1)
        assert (inside == np.sort(context[y == label])).all()
    later = Null(rows, EVERY).draws(as_context(context).codes, 5, 31, 10)
    assert np.array_equal(later, drawn[30:])
    random = np.random.default_rng(replicate_seed(5, 1))
    permuted = Null(rows, EVERY).draw(as_context(context).codes, random)
    assert np.array_equal(drawn[0], permuted)


def test_all_arrangements_within_classes_are_equally_probable():
    """2 x 3 arrangements, 6000 permutations: chi-square with 5 degrees of freedom below .999."""
    rows = Exchangeability(5, strata=np.array([0, 0, 1, 1, 1]))
    codes = np.array([0, 1, 0, 0, 1], dtype=np.uint32)
    drawn = Null(rows, EVERY).draws(codes, 1, 1, 6000)
    counts = np.unique(drawn, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert ((counts - 1000) ** 2 / 1000).sum() < stats.chi2.ppf(0.999, 5)
    assert rows.count(codes) == 6


def test_numeric_targets_have_bins_of_about_eight_rows():
    y = np.random.default_rng(1).normal(size=100)
    null = equal_nulls(subject(y), "within_target", "test")
    counts = np.bincount(null.cells)
    assert len(counts) == 12
    assert set(counts.tolist()) <= {8, 9}
    order = null.cells[np.argsort(y)]
    assert (np.diff(order) >= 0).all()
    assert quantile_bins(np.array([5.0, 5, 5, 5, 1, 9]), 3).tolist() == [1, 1, 1, 1, 0, 2]


def test_strata_are_crossed_with_classes_and_bins():
    strata = np.repeat(["s", "t"], [40, 24])
    y = np.tile(["a", "b"], 32)
    null = equal_nulls(subject(y, strata=strata), "within_target", "test")
    pairs = {(s, label) for s, label in zip(strata, y, strict=True)}
    assert len({(*pair, g) for *pair, g in zip(strata, y, null.cells, strict=True)}) == len(pairs)
    assert len(np.unique(null.relevance.rows.strata)) == 2
    numbers = np.random.default_rng(2).normal(size=64)
    bins = equal_nulls(subject(numbers, strata=strata), "within_target", "test").cells
    assert len(np.unique(bins[:40])) == 5
    assert len(np.unique(bins[40:])) == 3
    assert not set(bins[:40]) & set(bins[40:])


def test_blocks_exchange_with_blocks_of_the_same_classes():
    """Families of two and three: those with classes ab exchange with one another, others not."""
    y = np.array(list("aabababbbbbb"))
    groups = np.repeat([0, 1, 2, 3, 4], [3, 2, 2, 2, 3])
    context = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0], dtype=np.uint32)
    rows = equal_nulls(subject(y, groups=groups), "within_target", "test").effects[0].rows
    drawn = np.unique(Null(rows, EVERY).draws(context, 0, 1, 200), axis=0)
    assert len(drawn) == 4
    assert rows.count(context) == 4
    assert (drawn[:, :3] == 0).all()
    for group in np.unique(groups):
        assert (drawn[:, groups == group] == drawn[:, groups == group][:, :1]).all()
    ragged = context.copy()
    ragged[3] = 1  # a group with both contexts: groups of as many rows exchange them in order
    assert rows.count(ragged) == 2


def test_few_arrangements_are_a_note():
    random = np.random.default_rng(4)
    X, y = random.integers(0, 2, (40, 2)).astype(str), random.integers(0, 2, 40)
    same = dm.contexts.context_importances(
        X, y, y, estimator=random_trees(3), n_permutations=19, random_state=0
    )
    assert (same.absolute_p_values == 1).all()
    assert any("only 1 arrangements of Xc are possible" in text for text in same.notes)
    assert same.relevance_p_value == 0.05
    assert "note: only 1" in repr(same)


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"permute": "within"}, "context_.*: permute must be one of"),
        ({"strata": [1, 2]}, "strata must have a label for each of the 36 rows"),
        ({"groups": [None] * 36}, "groups must have a label for every row"),
        ({"strata": np.arange(36), "groups": np.zeros(36)}, "each group must lie in one stratum"),
    ],
)
def test_schemes_that_there_are_not(options, message):
    X, y, context = data_set(0, "regression")
    with pytest.raises(ValueError, match=message):
        dm.contexts.context_importances(
            X, y, context, estimator=random_trees(2, "regression"), n_permutations=2, **options
        )


# --- contexts that shift classes, or features ----------------------------------------------------


def rates_of(problem, task, n_sets, scheme="conditional"):
    with_discrete = context_nulls.rates(problem, "discrete", task, scheme, n_sets)
    return {effect: np.mean(with_discrete[effect]) for effect in context_nulls.EFFECTS}


@pytest.fixture
def _few_permutations_and_trees(monkeypatch):
    """39 permutations, by which .05 is reached exactly by one side and by two, and 10 trees."""
    monkeypatch.setattr(context_nulls, "PERMUTATIONS", 39)
    monkeypatch.setattr(context_nulls, "TREES", 10)


@pytest.mark.slow
@pytest.mark.usefixtures("_few_permutations_and_trees")
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_context_that_shifts_classes(task):
    """50 data sets: mean rates of 5 features and 2 contexts at .05, by default and among all rows.

    Were the p-values of a data set all one, a mean rate would be a binomial proportion; the bound
    is its .999 quantile. From more data sets the rates are as in the guide.
    """
    default = rates_of("shifts classes", task, 50)
    assert max(default[effect] for effect in context_nulls.EFFECTS) <= band(0.05, 50)[1] / 50
    among_all = rates_of("shifts classes", task, 15, "all")
    assert among_all["overall"] > 0.2
