"""Boruta: its rules, the course of its rounds, and what it selects."""

import numpy as np
import pytest
from tests.grid import one_test
from tests.oracles import boruta as oracle
from tests.significance.noise import TINY, correlation, noise, signal

import duramen as dm
from duramen.selection.boruta import CONFIRMED, CORRECTIONS, VERDICTS, HitCounts, decided

WORDS = np.vectorize(VERDICTS.get)


def boruta(**options):
    options = {"n_estimators": 30, "measure": "mdi", "max_rounds": 25, "random_state": 0, **options}
    return dm.Boruta(**options)


def plain(**options):
    """Boruta by correlations, which no forest has a part in."""
    return boruta(estimator=TINY, n_estimators=None, **{"measure": correlation, **options})


# --- rules --------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(("p", "first"), [(10, 10), (100, 14), (1000, 17)])
def test_known_first_verdicts_of_r(p, first):
    """A feature that always has a hit is confirmed, one that never has rejected, in that round."""
    verdicts, hits = np.zeros(p, dtype=np.int64), np.zeros(p, dtype=np.int64)
    for n in range(1, first + 1):
        hits[0] += 1
        verdicts = decided(verdicts, hits, n, "bonferroni", 0.01)
        assert (verdicts != 0).any() == (n == first)
    assert verdicts.tolist() == [1] + [-1] * (p - 1)


def test_known_first_verdict_of_two_steps():
    """2^-n <= .05 / n holds from the eighth round on, however many features there are."""
    for p in (5, 500):
        hits = np.full(p, 8)
        for n, any_ in ((7, False), (8, True)):
            result = decided(0 * hits, np.minimum(hits, n), n, "two-step", 0.05)
            assert (result == CONFIRMED).all() == any_


@one_test
@pytest.mark.parametrize("rule", CORRECTIONS)
@pytest.mark.parametrize("seed", range(2))
def test_course_against_the_oracle(rule, seed):
    random = np.random.default_rng(seed)
    p, most, level = 9, 40, 0.1
    chances = random.choice([0.02, 0.3, 0.5, 0.7, 0.98], size=p)
    hit = random.random((most, p)) < chances
    history, counts = oracle.verdicts(hit.tolist(), rule, level)
    rows = np.column_stack([hit.astype(float), np.full(most, 0.5)])
    course = HitCounts(p, most, rule, level)
    ends = []
    for n in range(1, len(history) + 1):
        allowed = course.ready(rows[: n - 1])
        assert allowed >= n
        ends.append(allowed)
        rows[n:, :-1][:, [verdict == "rejected" for verdict in history[n - 1]]] = np.nan
        course.take(rows[:n])
        assert WORDS(course.verdicts).tolist() == history[n - 1]
        # No verdict changes before the round up to which all can be computed at a time.
        changes = [k for k in range(n, len(history)) if history[k] != history[n - 1]]
        assert course.ready(rows[:n]) <= (changes[0] + 1 if changes else most)
    assert course.hits.tolist() == counts
    assert course.ready(rows[: len(history)]) == len(history) or len(history) == most
    assert max(ends) > 1


# --- rounds -------------------------------------------------------------------------------------


def test_shadows():
    """Beside the features stand permuted copies of them, five at least."""
    X, y = signal()
    seen = {}

    def looking(forest, table, labels):
        p = len(seen) and seen["p"]
        own, copies = table.take_columns(range(p)), table.take_columns(range(p, table.n_columns))
        seen.setdefault("sizes", set()).add(table.n_columns)
        for j in range(copies.n_columns):
            copy, column = copies.codes(j), own.codes(j % p)
            assert sorted(copy) == sorted(column)
            assert (copy != column).any()
            assert copies.values(j).tolist() == own.values(j % p).tolist()
        seen["orders"] = {tuple(copies.codes(j)) for j in range(copies.n_columns)}
        assert len(seen["orders"]) == copies.n_columns  # each in an order of its own
        return np.arange(table.n_columns, dtype=float)

    for p, wanted in ((1, 9), (2, 10), (3, 9), (5, 10), (8, 16)):
        seen.update(p=p, sizes=set())
        plain(measure=looking, max_rounds=2).fit(X[:, :p], y)
        assert seen["sizes"] == {wanted, p}  # the latter once, for the unit


def test_history():
    X, y = signal()
    model = plain(max_rounds=40).fit(X, y)
    history = model.history_
    importance, threshold = history["importance"], history["threshold"]
    assert set(model.selected_) == {0, 1}
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(model.hits_, (importance > threshold[:, None]).sum(axis=0))
    for j in range(8):
        end = model.decided_in_[j] if model.verdicts_[j] == "rejected" else model.n_rounds_
        assert np.isnan(importance[:, j]).tolist() == [r >= end for r in range(model.n_rounds_)]
        np.testing.assert_allclose(model.importances_.values[j], importance[:end, j].mean())
    for word, name in (("confirmed", "selected"), ("tentative",) * 2, ("rejected",) * 2):
        assert history[f"n_{name}"][-1] == (model.verdicts_ == word).sum()
    assert (
        sum(history[f"n_{verdict}"] for verdict in ("selected", "tentative", "rejected")) == 8
    ).all()


def test_ranking_puts_tentative_features_first():
    X, y = noise(3, p=12)
    model = boruta(max_rounds=15).fit(X, y)
    words = model.verdicts_[np.argsort(model.ranking_, kind="stable")]
    order = [word for word in ("confirmed", "tentative", "rejected") if word in words]
    assert list(dict.fromkeys(words)) == order
    assert len(order) > 1


def test_rough_fix():
    X, y = noise(3, p=12)
    left = boruta(max_rounds=15).fit(X, y)
    fixed = boruta(max_rounds=15, rough_fix=True).fit(X, y)
    tentative = left.verdicts_ == "tentative"
    assert tentative.any()
    medians = np.median(left.history_["importance"][:, tentative], axis=0)
    above = medians > np.median(left.history_["threshold"])
    assert fixed.verdicts_[tentative].tolist() == np.where(above, "confirmed", "rejected").tolist()
    assert fixed.verdicts_[~tentative].tolist() == left.verdicts_[~tentative].tolist()


def test_percentile():
    X, y = noise(1)
    strict, lax = (plain(percentile=q, max_rounds=5).fit(X, y) for q in (100, 50))
    assert (lax.history_["threshold"] < strict.history_["threshold"]).all()
    assert (lax.hits_ >= strict.hits_).all()


# --- known selections ---------------------------------------------------------------------------


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("measure", ["mdi", "scaled_mda"])
def test_all_identical_relevant_columns_are_confirmed(correction, measure):
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 10))
    X[:, 5:7] = X[:, [0]]
    y = X[:, 0] + 0.3 * random.normal(size=150) > 0
    model = boruta(n_estimators=60, correction=correction, measure=measure, max_rounds=40)
    assert {0, 5, 6} <= set(model.fit(X, y).selected_.tolist())


@pytest.mark.filterwarnings("ignore:No features were selected")
def test_nothing_is_confirmed():
    X, y = noise(0, p=5)
    model = plain(max_rounds=3).fit(X, y)
    assert model.transform(X).shape == (60, 0)
    assert model.selected_.tolist() == []
    assert model.verdicts_.tolist() == ["tentative"] * 5


@pytest.mark.slow
def test_rate_on_noise():
    """Half of the time the best feature is above the best shadow, in all rounds of a data set."""
    result = 0
    for seed in range(40):
        X, y = noise(seed, p=20)
        result += len(plain(max_rounds=60, random_state=seed).fit(X, y).selected_) > 0
    assert 0.2 < result / 40 < 0.7  # what the guide says of it
