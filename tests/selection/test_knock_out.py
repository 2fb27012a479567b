"""Knock-out strategy: rounds, thresholds, and what it finds."""

import numpy as np
import pytest
from tests.grid import one_test
from tests.significance.noise import TINY, correlation, noise, signal

import duramen as dm
from duramen.jobs.replicates import Batches
from duramen.selection.rounds import Rounds, knocked_out


def knock_out(**options):
    return dm.KnockOut(**{"n_estimators": 30, "n_permutations": 19, "random_state": 0, **options})


def plain(**options):
    """By correlations, which no forest has a part in."""
    return knock_out(estimator=TINY, n_estimators=None, **{"measure": correlation, **options})


@one_test
@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_course_against_plain_python(alpha, seed):
    random = np.random.default_rng(seed)
    p, size, most = 6, 20, 4
    left, result, rows = list(range(p)), {}, []
    course = Rounds(np.zeros(p, dtype=int), most)
    batches = Batches(knocked_out(course, size, alpha))
    for number in range(1, most + 1):
        values = random.integers(0, 30, size=(size, p)).astype(float)  # with ties
        values[0, :2] += 15
        values[:, [j for j in range(p) if j not in left]] = np.nan
        rows.append(values)
        assert batches.ready(np.concatenate([np.empty((0, p)), *rows[:-1]])) == number * size
        assert batches.arguments((number - 1) * size)[0].tolist() == left
        batches.ready(np.concatenate(rows))
        largest = [max(row[j] for j in left) for row in values[1:]]
        p_values = {
            j: (1 + sum(maximum >= values[0, j] for maximum in largest)) / size for j in left
        }
        new = [j for j in left if p_values[j] <= alpha]
        assert {j: course.p_values[-1][j] for j in left} == p_values
        above = [j for j in left if values[0, j] > course.thresholds[-1]]
        assert set(new) == set(above)
        result.update(dict.fromkeys(new, number))
        left = [j for j in left if j not in new]
        assert course.left.tolist() == left
        if not new or not left:
            break
    assert batches.ready(np.concatenate(rows)) == len(rows) * size
    assert course.found_in.tolist() == [result.get(j, 0) for j in range(p)]


def test_masked_features_are_found_in_later_rounds():
    """A noisy copy is hardly ever chosen beside its column, and is found without it."""
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 5))
    X[:, 3] = X[:, 0] + 0.8 * random.normal(size=200)
    forest = dm.RandomForestClassifier(30, max_features=None, max_depth=1)
    model = knock_out(estimator=forest, n_estimators=None).fit(X, X[:, 0] > 0)
    assert model.found_in_[[0, 3]].tolist() == [1, 2]
    assert model.selected_[:2].tolist() == [0, 3]
    assert np.isnan(model.history_["importance"][1:, 0]).all()
    assert model.history_["n_selected"].tolist()[:2] == [1, 2]


@pytest.mark.slow
def test_noise_is_not_found():
    """Of 50 data sets no more than a binomial of .05 allows, at the level .001."""
    with_any = 0
    for seed in range(50):
        X, y = noise(seed, n=30, p=10)
        with_any += len(plain(random_state=seed, max_rounds=1).fit(X, y).selected_) > 0
    assert with_any <= 8


@pytest.mark.filterwarnings("ignore:No features were selected")
def test_nothing_is_found():
    X, y = noise(0, p=5)
    model = plain().fit(X, y)
    assert (model.selected_.tolist(), model.n_rounds_) == ([], 1)
    assert model.transform(X).shape == (60, 0)


def test_too_few_permutations_are_refused():
    X, y = signal()
    message = "KnockOut: n_permutations must be an int >= 1 / alpha - 1 = 19, got 10"
    with pytest.raises(ValueError, match=message):
        knock_out(n_permutations=10).fit(X, y)
