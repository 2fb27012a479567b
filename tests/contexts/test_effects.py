"""The kernel of context analysis against sums over lists of rows, and its permutations."""

import numpy as np
import pandas as pd
import pytest
from tests.contexts.trees import as_context, opened, rows_of
from tests.grid import one_test
from tests.oracles import context_nodes as oracle

import duramen as dm
from duramen.contexts.effects import context_effects, levels
from duramen.contexts.inputs import growth_of
from duramen.data import encode, learning_set
from duramen.forests.forest import mean_decreases

WHAT = ("absolute", "signed", "conditional", "overall", "relevance")


def mixed_table(random, n):
    """Numbers, few and many, categories, an ordered column, missing values, a constant."""
    frame = pd.DataFrame(
        {
            "number": random.normal(size=n).round(2),
            "few": random.integers(0, 3, n).astype(float),
            "word": random.choice(["a", "b", "c", "d"], n),
            "level": pd.Categorical(
                random.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True
            ),
            "gaps": random.integers(0, 2, n).astype(float),
            "holes": random.choice(["u", "v"], n).astype(object),
            "one": np.ones(n),
        }
    )
    frame.loc[random.random(n) < 0.2, "gaps"] = np.nan
    frame.loc[random.random(n) < 0.2, "holes"] = None
    return encode(frame)


def target(random, criterion, n):
    return random.normal(size=n) if criterion == "variance" else random.integers(0, 3, n)


def subject(
    table, y, seed=0, n_trees=3, n_bins=None, criterion="entropy", kind="ExtraTrees", **growth
):
    options = {"splits": "auto", "max_features": 1, "criterion": criterion, **growth}
    kind = getattr(dm, kind + ("Regressor" if criterion == "variance" else "Classifier"))
    trees = kind(n_trees, **options)
    return growth_of(learning_set(table, y), trees, seed, "test", n_bins=n_bins)


def assert_as_oracle(effects, codes, n_contexts, empty, rows=None, forest=None):
    forest = effects.forest(effects.seed) if forest is None else forest
    context = as_context(codes, n_contexts)
    result = context_effects(forest, effects, context, empty, seed=1)
    weights = levels(forest)
    trees = opened(forest, rows_of(effects.data.table) if rows is None else rows, weights)
    y, p = effects.data.target.values.tolist(), effects.data.n_columns
    wanted = oracle.effects(
        trees, y, context.codes.tolist(), n_contexts, p, forest.settings.criterion, empty
    )
    if not forest.settings.samples_rows:
        np.testing.assert_allclose(
            mean_decreases(forest).values, wanted["importances"], rtol=0, atol=1e-12
        )
    for what in WHAT:
        values = getattr(result, what)[0]
        np.testing.assert_allclose(values, wanted[what], rtol=0, atol=1e-12, err_msg=what)
    return wanted


@one_test
@pytest.mark.parametrize("empty", ["skip", "zero"])
@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
@pytest.mark.parametrize("splits", ["multiway", "ordered"])
@pytest.mark.parametrize("n_contexts", [2, 3, 5])
def test_effects_are_those_of_the_oracle(n_contexts, splits, criterion, empty):
    random = np.random.default_rng(n_contexts)
    n = 60
    analysis = subject(
        mixed_table(random, n), target(random, criterion, n), criterion=criterion, splits=splits
    )
    # The last context is rare: most nodes have none of its rows.
    codes = np.where(random.random(n) < 0.1, n_contexts - 1, random.integers(0, n_contexts - 1, n))
    wanted = assert_as_oracle(analysis, codes, n_contexts, empty)
    assert np.min(np.sum(wanted["absolute"], axis=0)[:6]) > 0.001
    assert wanted["relevance"] > 0.001


@one_test
@pytest.mark.parametrize("criterion", ["entropy", "variance"])
@pytest.mark.parametrize(
    "growth",
    [
        {"max_depth": 2},
        {"max_depth": 1, "splits": "multiway"},
        {"min_samples_leaf": 5},
        {"min_samples_leaf": 3, "splits": "multiway"},
        {"max_features": None},
        {"n_bins": 3, "splits": "multiway"},
        {"kind": "RandomForest", "bootstrap": False, "max_features": "sqrt"},
        {"kind": "RandomForest", "bootstrap": True, "max_features": "sqrt"},
        {"kind": "RandomForest", "bootstrap": True, "splits": "multiway"},
    ],
)
def test_other_trees(growth, criterion):
    random = np.random.default_rng(7)
    table, y = mixed_table(random, 50), target(random, criterion, 50)
    codes = random.integers(0, 3, 50)
    analysis = subject(table, y, criterion=criterion, **growth)
    assert_as_oracle(analysis, codes, 3, "skip")


@one_test
@pytest.mark.parametrize("n", [255, 256, 300])
@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
def test_counts_of_more_rows_than_one_byte_holds(criterion, n):
    random = np.random.default_rng(n)
    table = mixed_table(random, n)
    analysis = subject(table, target(random, criterion, n), criterion=criterion, n_trees=1)
    assert_as_oracle(analysis, np.where(np.arange(n) < 3, 1, 0), 2, "skip")


@one_test
@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
def test_a_context_without_any_row(criterion):
    """Never seen with "skip"; with "zero" all that a feature says is lost."""
    random = np.random.default_rng(3)
    analysis = subject(mixed_table(random, 40), target(random, criterion, 40), criterion=criterion)
    forest = analysis.forest(analysis.seed)
    codes = random.integers(0, 2, 40) * 2  # none is 1
    for empty in ("skip", "zero"):
        assert_as_oracle(analysis, codes, 3, empty, forest=forest)
        result = context_effects(forest, analysis, as_context(codes, 3), empty, seed=0)
        lost = mean_decreases(forest).values if empty == "zero" else 0.0
        np.testing.assert_allclose(result.absolute[0, 1], lost, rtol=0, atol=1e-12)
        assert result.conditional[0, 1].tolist() == [0.0] * 7


# --- permutations --------------------------------------------------------------------------------


class Readable:
    """A forest that tells, for every permutation, which row is in which context.

    Column j is 1 in row j alone, and trees have one split: within a context the column decreases
    the variance if and only if row j is in it.
    """

    def __init__(self, n):
        random = np.random.default_rng(n)
        analysis = subject(encode(np.eye(n)), random.normal(size=n), n_trees=20 * n, max_depth=1)
        self.subject, self.forest = analysis, analysis.forest(0)
        assert set(self.forest.feature.tolist()) == {-1, *range(n)}

    def contexts(self, codes, seed, first, count):
        context = as_context(codes)
        result = context_effects(
            self.forest, self.subject, context, "skip", seed=seed, first=first, n_permutations=count
        )
        here = result.conditional > 1e-13
        assert (here.sum(axis=1) == 1).all()  # every row in one context
        return here.argmax(axis=1)


@pytest.fixture(scope="module")
def readable():
    return Readable(14)


CODES = np.array([0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2])


def test_number_0_leaves_all_in_place_and_the_others_are_permutations(readable):
    read = readable.contexts(CODES, 5, 0, 100)
    assert read[0].tolist() == CODES.tolist()
    for values in read:
        assert np.bincount(values).tolist() == [3, 5, 6]
    # 14! / (3! 5! 6!) = 168168 ways: hardly any comes twice.
    assert len({tuple(row) for row in read.tolist()}) >= 99
    assert readable.contexts(CODES, 5, 0, 100).tolist() == read.tolist()
    assert readable.contexts(CODES, 6, 1, 99).tolist() != read[1:].tolist()


def test_every_row_goes_everywhere_as_often(readable):
    """4000 permutations: fractions of the contexts at each row within 4.5 standard errors."""
    read = readable.contexts(CODES, 0, 1, 4000)
    for c, fraction in enumerate(np.bincount(CODES) / 14):
        result = (read == c).mean(axis=0)
        assert np.abs(result - fraction).max() < 4.5 * np.sqrt(fraction * (1 - fraction) / 4000)
    # Pairs of rows too: both in the first context with probability 3/14 * 2/13.
    first = (read == 0).astype(float)
    pairs = (first.T @ first / 4000)[np.triu_indices(14, 1)]
    fraction = 6 / 182
    assert np.abs(pairs - fraction).max() < 4.5 * np.sqrt(fraction * (1 - fraction) / 4000)


@pytest.mark.parametrize("criterion", ["entropy", "variance"])
def test_permuted_effects_are_those_of_the_permuted_contexts(readable, criterion):
    """A permutation depends on the seed, its number and n alone, not on the table."""
    random = np.random.default_rng(9)
    analysis = subject(mixed_table(random, 14), target(random, criterion, 14), criterion=criterion)
    forest, context = analysis.forest(analysis.seed), as_context(CODES)
    result = context_effects(forest, analysis, context, "skip", seed=8, first=30, n_permutations=5)
    for number, codes in enumerate(readable.contexts(CODES, 8, 30, 5)):
        alone = context_effects(forest, analysis, as_context(codes), "skip", seed=0)
        for what in WHAT:
            assert getattr(result, what)[number].tobytes() == getattr(alone, what)[0].tobytes()
        assert_as_oracle(analysis, codes, 3, "skip", forest=forest)


def test_permutations_that_are_no_contexts_are_refused_by_the_kernel():
    random = np.random.default_rng(9)
    analysis = subject(mixed_table(random, 14), target(random, "entropy", 14))
    forest, context = analysis.forest(analysis.seed), as_context(CODES)
    for drawn, message in (
        (np.zeros((2, 13), np.uint32), "one entry a row"),
        (np.full((2, 14), 3, np.uint32), "not below the number of contexts"),
    ):
        with pytest.raises(ValueError, match=message):
            context_effects(forest, analysis, context, "skip", seed=8, drawn=drawn)


@one_test
@pytest.mark.parametrize("n", [100, 400])
@pytest.mark.parametrize("criterion", ["entropy", "gini", "variance"])
def test_chunks_and_threads_do_not_matter_to_a_bit(criterion, n):
    random = np.random.default_rng(1)
    analysis = subject(mixed_table(random, n), target(random, criterion, n), criterion=criterion)
    forest, context = analysis.forest(analysis.seed), as_context(random.integers(0, 4, n))

    def measured(first, count, n_threads=1):
        options = {"seed": 3, "first": first, "n_permutations": count, "n_threads": n_threads}
        return context_effects(forest, analysis, context, "skip", **options)

    whole = measured(0, 70)
    for first, count, n_threads in (
        *((0, 1, 1), (31, 2, 2), (10, 33, 1), (69, 1, 3)),
        *((0, 70, 2), (0, 70, 3), (0, 70, 16)),
    ):
        part = measured(first, count, n_threads)
        for what in WHAT:
            wanted = getattr(whole, what)[first : first + count]
            assert getattr(part, what).tobytes() == wanted.tobytes()
